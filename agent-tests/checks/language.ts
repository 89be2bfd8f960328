/** In which language an answer is, found by its letter sequences: without a model, and the same each time. */

/** By subtags that the detector knows by another code. */
const SAME: Readonly<Record<string, string>> = { nb: 'no', nn: 'no', fil: 'tl', iw: 'he', cmn: 'zh', yue: 'zh' };

export interface LanguageFound {
  /** ISO 639-1; empty where nothing fits. */
  readonly language: string;
  /** Of longer texts; the shortest answers fit several languages. */
  readonly certain: boolean;
}

/** Loaded when a test asks for a language: its tables are 1.6 MB. */
const detector = async () => (await import('eld/small')).eld;

export async function languageOf(text: string): Promise<LanguageFound> {
  const found = (await detector()).detect(text);
  return { language: found.language, certain: found.isReliable() };
}

/** The detector's code of a BCP 47 tag: its language, without script and region. */
export function codeOf(tag: string): string {
  const [language = ''] = tag.toLowerCase().split('-');
  return SAME[language] ?? language;
}

export async function isKnownLanguage(tag: string): Promise<boolean> {
  return Object.values((await detector()).info().Languages).includes(codeOf(tag));
}
