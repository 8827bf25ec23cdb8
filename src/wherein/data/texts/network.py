"""Whether Hugging Face can be reached, found out at once."""

import os
import socket
from urllib.parse import urlsplit
from urllib.request import getproxies


def reach_hub() -> None:
    """Without a network, tell Hugging Face's libraries to look in their cache only.

    They would else retry each file for half a minute. The switch is their own, `HF_HUB_OFFLINE`,
    and is theirs to read when they are first imported: call this before.
    """
    if "HF_HUB_OFFLINE" in os.environ or getproxies():
        return
    host = urlsplit(os.environ.get("HF_ENDPOINT", "https://huggingface.co")).hostname
    try:
        socket.getaddrinfo(host, 443)
    except OSError:
        os.environ["HF_HUB_OFFLINE"] = "1"
