/**
 * Cuts a text into sentences and words. This stays apart from counting tokens: a search cuts its snippets with it, and the encoding takes
 * 67 MB.
 */

/** Yields sentences in order; together they are the text. None ends inside a grapheme. @param language BCP 47 */
export function sentencesOf(text: string, language?: string): Generator<string> {
  return segmentsOf(text, sentenceSegmenter(language));
}

/** Yields words and the text between them, by the rules of {@link sentencesOf}. */
export function wordSegmentsOf(text: string): Generator<string> {
  return segmentsOf(text, words);
}

const words = new Intl.Segmenter('en', { granularity: 'word' });
const graphemes = new Intl.Segmenter('en', { granularity: 'grapheme' });
const sentenceSegmenters = new Map<string, Intl.Segmenter>();

/** An unknown language gets the rules that hold for most. */
function sentenceSegmenter(language = 'en'): Intl.Segmenter {
  let segmenter = sentenceSegmenters.get(language);
  if (segmenter === undefined) {
    segmenter = createSentenceSegmenter(language);
    if (sentenceSegmenters.size > 100) sentenceSegmenters.clear();
    sentenceSegmenters.set(language, segmenter);
  }
  return segmenter;
}

function createSentenceSegmenter(language: string): Intl.Segmenter {
  try {
    return new Intl.Segmenter(language, { granularity: 'sentence' });
  } catch {
    return new Intl.Segmenter('en', { granularity: 'sentence' });
  }
}

/** Joins words and sentences that end inside a grapheme by their own rules. */
function* segmentsOf(text: string, segmenter: Intl.Segmenter): Generator<string> {
  const breaks = graphemes.segment(text);
  let held = '';
  for (const { segment, index } of segmenter.segment(text)) {
    held += segment;
    const end = index + segment.length;
    if (end < text.length && breaks.containing(end)?.index !== end) continue;
    yield held;
    held = '';
  }
}
