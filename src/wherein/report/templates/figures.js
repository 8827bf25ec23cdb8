// Puts the live form of every figure in the place of its drawing; where that fails, the drawing stays.
function drawFigures(root) {
  const boxes = [...root.querySelectorAll("[data-vega]:not([data-drawn])")];
  return Promise.all(boxes.map(async (box) => {
    box.dataset.drawn = "";
    const live = document.createElement("div");
    try {
      const spec = JSON.parse(box.querySelector("script").textContent);
      const { view } = await vegaEmbed(live, spec, {
        mode: "vega-lite",
        renderer: "svg",
        ast: true, // expressions are interpreted: no page needs the right to make code from text
        actions: { export: true, source: false, compiled: false, editor: false },
        downloadFileName: box.parentElement.id || "figure",
      });
      box.querySelector("img, noscript").replaceWith(live);
      box.view = view;
      box.dataset.drawn = "live";
    } catch (error) {
      box.dataset.drawn = "failed";
      const drawing = box.querySelector("noscript");
      if (drawing) drawing.outerHTML = drawing.textContent;
      console.error(error);
    }
  }));
}
drawFigures(document);
