/** The extensions that parsers understand: those of uploaded files, and `html` for websites. Lower case, without the dot. */
export const PARSED_EXTENSIONS = ['pdf', 'docx', 'txt', 'md', 'xlsx', 'xls', 'html'] as const;

export type ParsedExtension = (typeof PARSED_EXTENSIONS)[number];

/**
 * Plain formats are text that Parley decodes itself. Binary ones are read by large libraries, so they have processes of their own.
 */
export type ParserKind = 'plain' | 'binary';

const PLAIN: ReadonlySet<ParsedExtension> = new Set(['txt', 'md', 'html']);

export function kindOf(extension: ParsedExtension): ParserKind {
  return PLAIN.has(extension) ? 'plain' : 'binary';
}
