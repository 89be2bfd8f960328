const [TAB, NEWLINE] = [9, 10];

/**
 * Picks the rows of COPY's text format whose columns have these values. The values must hold no character that the format escapes.
 * @returns a function that takes the next piece of the text and returns the picked rows that end in it
 */
export function pickRows(columns: readonly string[], wanted: Readonly<Record<string, string>>): (chunk: Buffer) => Buffer {
  const fields = Object.entries(wanted).map(([column, value]) => ({ index: columns.indexOf(column), value: Buffer.from(value) }));
  let rest: readonly Buffer[] = [];
  return (chunk) => {
    const picked: Buffer[] = [];
    let begin = 0;
    for (let end = chunk.indexOf(NEWLINE); end >= 0; end = chunk.indexOf(NEWLINE, begin)) {
      const last = chunk.subarray(begin, end + 1);
      const row = rest.length === 0 ? last : Buffer.concat([...rest, last]);
      rest = [];
      begin = end + 1;
      if (fields.every(({ index, value }) => fieldAt(row, index).equals(value))) picked.push(row);
    }
    rest = [...rest, chunk.subarray(begin)];
    return Buffer.concat(picked);
  };
}

/** Returns a field of a row with its line end; empty where it has none. */
function fieldAt(row: Buffer, index: number): Buffer {
  if (index < 0) return Buffer.alloc(0);
  let begin = 0;
  for (let passed = 0; passed < index; passed += 1) {
    const tab = row.indexOf(TAB, begin);
    if (tab < 0) return Buffer.alloc(0);
    begin = tab + 1;
  }
  const tab = row.indexOf(TAB, begin);
  return row.subarray(begin, tab < 0 ? row.length - 1 : tab);
}
