/** Detects the language of an answer by its letter sequences: without a model, and the same each time. */

/** Subtags that the detector knows by another code. */
const SAME: Readonly<Record<string, string>> = { nb: 'no', nn: 'no', fil: 'tl', iw: 'he', cmn: 'zh', yue: 'zh' };

export interface LanguageFound {
  /** ISO 639-1 code; empty where no language fits. */
  readonly language: string;
  /** True for longer texts; the shortest answers fit several languages. */
  readonly certain: boolean;
}

/** Loads the detector only when a test asks for a language: its tables are 1.6 MB. */
const detector = async () => (await import('eld/small')).eld;

export async function languageOf(text: string): Promise<LanguageFound> {
  const found = (await detector()).detect(text);
  return { language: found.language, certain: found.isReliable() };
}

/** Maps a BCP 47 tag to the detector's code: its language, without script and region. */
export function detectorCode(tag: string): string {
  const [language = ''] = tag.toLowerCase().split('-');
  return SAME[language] ?? language;
}

export async function isKnownLanguage(tag: string): Promise<boolean> {
  return Object.values((await detector()).info().Languages).includes(detectorCode(tag));
}
