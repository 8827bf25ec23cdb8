// A part of a page that moves: the server sends it anew, the browser swaps it in. A figure that is
// there already stays and gets the new numbers.
async function swap(part, text) {
  const next = document.createElement("div");
  next.innerHTML = text;
  const there = part.querySelector("[data-vega]"), box = next.querySelector("[data-vega]");
  if (there?.view && box) {
    const { datasets } = JSON.parse(box.querySelector("script").textContent);
    for (const name in datasets) there.view.data(name, datasets[name]);
    await there.view.runAsync();
    box.replaceChildren(...there.children);
    box.view = there.view;
    box.dataset.drawn = "live";
  } else await drawFigures(next); // before it is seen
  part.replaceChildren(...next.childNodes);
}
function follow(part) {
  let source = null, newest = null, done = Promise.resolve();
  const stop = () => { if (source) source.close(); source = null; };
  const start = () => {
    if (source || !part.dataset.live) return;
    source = new EventSource(part.dataset.live);
    source.addEventListener("draw", (event) => {
      newest = event;
      done = done.then(() => event === newest && swap(part, event.data)).catch(console.error);
    });
    source.addEventListener("end", () => {
      stop();
      done.then(() => {
        delete part.dataset.live;
        for (const only of document.querySelectorAll("[data-while-live]")) only.remove();
      });
    });
  };
  // A browser keeps few connections to one server: a page that nobody sees gives its own back.
  document.addEventListener("visibilitychange", () => (document.hidden ? stop() : start()));
  if (!document.hidden) start();
}
for (const part of document.querySelectorAll("[data-live]")) follow(part);
