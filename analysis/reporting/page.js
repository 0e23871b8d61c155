// Draws the figures of the page and fills their tables. Numbers come from the JSON in the element "figures", as they are.
"use strict";
(() => {
  // Colours are CSS variables, so that a change between light, dark and paper needs no new drawing.
  const config = {
    background: null,
    font: 'system-ui, "Segoe UI", Roboto, "DejaVu Sans", sans-serif',
    view: { stroke: null },
    axis: {
      labelColor: "var(--text)", titleColor: "var(--quiet)", gridColor: "var(--grid)", domainColor: "var(--axis)",
      tickColor: "var(--axis)", labelFontSize: 11, titleFontSize: 12, titleFontWeight: "normal", labelOverlap: "greedy",
      labelSeparation: 8, titlePadding: 6,
    },
    axisY: { tickCount: 5, domain: false, ticks: false, labelPadding: 5 },
    axisX: { labelFlush: true },
    line: { strokeJoin: "round" },
    style: {
      limit: { color: "var(--limit)", strokeWidth: 1.2, strokeDash: [2, 3] },
      "limit-name": { color: "var(--limit)", fontSize: 11, baseline: "middle" },
      ring: { filled: false, color: "var(--text)", strokeWidth: 1.2, size: 170, shape: "circle", opacity: 0.8 },
    },
  };
  const options = { renderer: "svg", actions: false, config, tooltip: { theme: "custom" } };
  const figures = JSON.parse(document.getElementById("figures").textContent);

  const decoded = (column) => (Array.isArray(column) ? column : column.codes.map((code) => column.texts[code]));

  function rowsOf(figure) {
    const columns = Object.entries(figure.columns).map(([name, column]) => [name, decoded(column)]);
    const length = columns.length ? columns[0][1].length : 0;
    return Array.from({ length }, (_, k) => Object.fromEntries(columns.map(([name, values]) => [name, values[k]])));
  }

  async function draw(figure) {
    const place = document.querySelector(`[data-figure="${figure.key}"]`);
    const spec = {
      width: "container", autosize: { type: "fit-x", contains: "padding" }, ...figure.spec,
      data: { values: rowsOf(figure) },
    };
    try {
      await vegaEmbed(place, spec, options);
    } catch (error) {
      place.textContent = `This figure could not be drawn: ${error.message}`;
      throw error;
    }
  }

  function fill(figure) {
    const place = document.querySelector(`[data-table="${figure.key}"] .scroll`);
    if (place.firstChild) return;
    const table = document.createElement("table");
    const head = table.createTHead().insertRow();
    for (const [, title] of figure.fields) {
      const cell = document.createElement("th");
      cell.scope = "col";
      cell.textContent = title;
      head.append(cell);
    }
    const body = table.createTBody();
    for (const row of rowsOf(figure)) {
      const line = body.insertRow();
      for (const [name] of figure.fields) {
        const value = row[name];
        const cell = line.insertCell();
        if (typeof value === "number") cell.className = "number";
        cell.textContent = typeof value === "number" ? value.toLocaleString("en", { maximumFractionDigits: 6 }) : value ?? "-";
      }
    }
    place.append(table);
  }

  async function start() {
    for (const figure of figures) {
      document.querySelector(`[data-table="${figure.key}"]`).addEventListener("toggle", () => fill(figure));
    }
    for (const figure of figures) await draw(figure);
    document.documentElement.dataset.drawn = String(figures.length);
  }
  start();
})();
