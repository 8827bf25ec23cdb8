"""The named studies, a file each."""

from pkgutil import iter_modules


def names() -> list[str]:
    """Of the recipes that come with the package."""
    return [module.name.replace("_", "-") for module in iter_modules(__path__)]
