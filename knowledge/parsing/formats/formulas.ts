/** What may stand between a formula's end and its cell's when nobody has calculated it. */
const noValue = /^\s*(?:<(?:\w+:)?v\s*\/>|<(?:\w+:)?v>\s*<\/(?:\w+:)?v>)?\s*<\/(?:\w+:)?c>/u;

/** Formulas of a workbook whose value the program that wrote it did not store; only a spreadsheet program could tell it. */
export function formulasWithoutValue(parts: ReadonlyMap<string, Buffer>): number {
  let count = 0;
  for (const [name, part] of parts) {
    if (!/^xl\/worksheets\/[^/]+\.xml$/iu.test(name)) continue;
    for (let at = part.indexOf('f>'); at >= 0; at = part.indexOf('f>', at + 2)) {
      const isEnd = part[at - 1] === 0x2f || part[at - 1] === 0x3a;
      if (isEnd && noValue.test(part.toString('latin1', at + 2, at + 42))) count += 1;
    }
  }
  return count;
}
