/** Sentences and words of a text. Apart from what counts tokens: a search cuts its snippets with them, and the encoding takes 67 MB. */

/** In order; together they are the text. None ends inside a grapheme. @param language BCP 47 */
export function sentencesOf(text: string, language?: string): Generator<string> {
  return segmentsOf(text, sentenceSegmenter(language));
}

/** Words and what is between them, as {@link sentencesOf}. */
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

/** Words and sentences may end inside a grapheme by their own rules; such ones are kept together. */
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
