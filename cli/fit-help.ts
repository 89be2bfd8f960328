/** Wraps the prose of a help text: commander wraps what it writes itself, not what commands add to it. */

/** @param width columns; lines that are indented, such as examples, stay as they are: people copy them */
export function fitHelp(text: string, width: number): string {
  return text
    .split('\n\n')
    .map((paragraph) => (paragraph.split('\n').some((line) => isProse(line) && line.length > width) ? wrap(paragraph, width) : paragraph))
    .join('\n\n');
}

const isProse = (line: string): boolean => /^\S/.test(line);

function wrap(paragraph: string, width: number): string {
  const lines: string[] = [];
  let isOpen = false;
  for (const line of paragraph.split('\n')) {
    if (!isProse(line)) {
      lines.push(line);
      isOpen = false;
      continue;
    }
    for (const word of line.split(' ')) {
      const last = lines.at(-1) ?? '';
      if (isOpen && last.length + 1 + word.length <= width) lines[lines.length - 1] = `${last} ${word}`;
      else lines.push(word);
      isOpen = true;
    }
  }
  return lines.join('\n');
}
