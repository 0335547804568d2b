// @ts-check
// Tools grouped by pack.

import { html, useMemo } from "../preact-htm.js";
import { numberOf } from "../lib/format.js";
import { packOf } from "../lib/tools.js";
import { ToolRow } from "./tool-row.js";

/** @import { Hit } from "../types.js" */

/**
 * Shows tools under the names of their packs.
 * @param {{ hits: Hit[], all: Hit[], selected: string }} props
 */
export function ToolGroups({ hits, all, selected }) {
  const counts = useMemo(() => {
    const counts = new Map();
    for (const { tool } of all) counts.set(packOf(tool), (counts.get(packOf(tool)) ?? 0) + 1);
    return counts;
  }, [all]);
  const groups = useMemo(() => Object.entries(Object.groupBy(hits, ({ tool }) => packOf(tool))), [hits]);
  return groups.map(
    ([pack, members]) => html`<section key=${pack} aria-label=${pack || "Without a pack"}>
      <h2 class="pack">${pack || "no pack"} <span>${numberOf(counts.get(pack))}</span></h2>
      <ul>${members?.map(
        (hit) => html`<${ToolRow} key=${hit.tool.name} hit=${hit} isSelected=${hit.tool.name === selected} />`,
      )}</ul></section>`,
  );
}
