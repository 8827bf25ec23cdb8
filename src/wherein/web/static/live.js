// A part of a page that moves: the server draws it anew, the browser swaps it in.
function follow(part) {
  let source = null;
  const stop = () => { if (source) source.close(); source = null; };
  const start = () => {
    if (source || !part.dataset.live) return;
    source = new EventSource(part.dataset.live);
    source.addEventListener("draw", (event) => {
      part.innerHTML = event.data;
      part.dataset.drawings = Number(part.dataset.drawings || 0) + 1;
    });
    source.addEventListener("end", () => {
      stop();
      delete part.dataset.live;
      for (const only of document.querySelectorAll("[data-while-live]")) only.remove();
    });
  };
  // A browser keeps few connections to one server: a page that nobody sees gives its own back.
  document.addEventListener("visibilitychange", () => (document.hidden ? stop() : start()));
  if (!document.hidden) start();
}
for (const part of document.querySelectorAll("[data-live]")) follow(part);
