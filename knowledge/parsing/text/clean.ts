/** C0 but tab and line feed, DEL, C1, byte order marks, noncharacters and interlinear annotation marks. */
// eslint-disable-next-line no-control-regex
const UNWANTED = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f\ufeff\ufff9-\ufffb\ufffe\uffff]/gu;

/**
 * Applies NFC and `\n` as the only line end, and removes control characters, lone surrogates and soft hyphens. Joiners stay: Bangla needs
 * them.
 */
export function cleanText(text: string): string {
  return text
    .toWellFormed()
    .replace(/\r\n?|\u2028|\u2029|\u0085/gu, '\n')
    .replace(UNWANTED, '')
    .replaceAll('\u00ad', '')
    .normalize('NFC');
}

/** Makes one line: any run of white space is one space, none at the ends. */
export function oneLine(text: string): string {
  return cleanText(text)
    .replace(/[\s\u00a0\u3000]+/gu, ' ')
    .trim();
}

/** Keeps lines; runs of spaces inside them become one, empty lines go. */
export function tidyLines(text: string): string {
  return cleanText(text)
    .split('\n')
    .map((line) => line.replace(/[\s\u00a0\u3000]+/gu, ' ').trim())
    .filter((line) => line !== '')
    .join('\n');
}
