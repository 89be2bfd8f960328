/** Warnings for the owner of a file about parts that a parser leaves out on purpose. All begin alike. */

/** Writes `left out: <what>`, and how to have it read where there is a way. */
export function leftOut(what: string, cure?: string): string {
  return cure === undefined ? `left out: ${what}` : `left out: ${what}; ${cure}`;
}

export const STRUCK_LEFT_OUT = leftOut('text that is struck through', 'remove the line through it to have it read');
export const HIDDEN_TEXT_LEFT_OUT = leftOut('hidden text', 'make it visible to have it read');
export const WHITE_TEXT_LEFT_OUT = leftOut('text that no reader sees (white on white)', 'give it another colour to have it read');
export const PLACEHOLDERS_LEFT_OUT = leftOut('placeholders of fields that are not filled in');
