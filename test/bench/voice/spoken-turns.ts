/**
 * Makes turns with a pause inside, and back-channels, spoken by espeak-ng: what the voice says up to a comma, with the melody of a
 * sentence that goes on, a pause of known length, and the rest. They are the same in each run.
 */
import { resample } from '../../../local-stack/speech/sound.ts';
import { samplesOf } from '../../../local-stack/speech/speech.ts';

export const SAMPLE_RATE = 16_000;

/** Asks the speech helper to `speak`. */
export type Voice = (question: Readonly<Record<string, unknown>>) => Promise<Readonly<Record<string, unknown>>>;

export interface SpokenTurn {
  readonly language: string;
  /** Sound up to the pause, which is not the end. */
  readonly start: Int16Array;
  readonly pauseMs: number;
  /** Sound from the pause to the end. */
  readonly rest: Int16Array;
}

export interface SpokenBackchannel {
  readonly text: string;
  readonly sound: Int16Array;
}

const SENTENCES: Readonly<Record<string, readonly string[]>> = {
  'en-us': [
    'I would like to book a table for four people, on Friday evening if possible.',
    'I ordered a pair of shoes last week, and they still have not arrived.',
    'Hello, my name is Peter Miller.',
    'If I send it back today, when do I get my money?',
    'My number is five five five, one two three four.',
    'Well, let me think, I would say the second one.',
    'The problem is that my connection drops, mostly in the evening.',
    'It started on Tuesday, and then it got worse every day.',
    'We will be in town on Monday, so we would like to visit.',
    'Yes, and could you add breakfast?',
    'When I press the green button, nothing happens.',
    'I am calling because of my credit card, I lost it yesterday.',
  ],
  de: [
    'Ich möchte gerne einen Tisch bestellen, für Freitag um acht.',
    'Guten Tag, mein Name ist Anna Huber.',
    'Ich habe letzte Woche etwas bestellt, und es ist noch nicht da.',
    'Wenn ich auf den Knopf drücke, passiert gar nichts.',
    'Meine Nummer ist fünf fünf sechs, sieben acht neun.',
    'Das Problem ist, dass ich nicht mehr hineinkomme.',
    'Wir kommen am Montag an, und bleiben bis Donnerstag.',
    'Ja, und bitte auch ein Frühstück.',
    'Eigentlich wollte ich absagen, aber jetzt geht es doch.',
    'Können Sie mir sagen, wann Sie morgen öffnen?',
    'Ich rufe wegen der Rechnung an, da stimmt etwas nicht.',
    'Es kommt darauf an, was es kostet.',
  ],
  es: [
    'Quisiera reservar una mesa, para cuatro personas.',
    'Buenos días, me llamo Carmen López.',
    'Pedí unos zapatos la semana pasada, y todavía no han llegado.',
    'Cuando aprieto el botón, no pasa nada.',
    'Mi número es cinco cinco seis, siete ocho nueve.',
    'El problema es mi conexión, se corta todas las noches.',
    'Llegamos el lunes, y nos quedamos hasta el jueves.',
    'Sí, y también el desayuno.',
    'Quería cancelar la cita, pero ya puedo ir.',
    '¿Me puede decir, a qué hora abren mañana?',
    'Llamo por la factura, hay algo que no entiendo.',
    'Depende, de lo que cueste.',
  ],
};

const BACKCHANNELS = [
  'uh-huh',
  'mm-hmm',
  'okay',
  'yeah',
  'right',
  'I see',
  'sure',
  'got it',
  'okay, right',
  'ha ha',
  'ha ha ha',
  'oh, wow',
];
const VARIANTS = ['f3', 'm3', 'f4', 'm7'] as const;
/** Speeds in words a minute. */
const SPEEDS = [130, 155, 185] as const;
const PAUSES_MS = [350, 450, 550, 700, 900, 1_200, 1_600] as const;
/** Least loudness of speech, of 32,768. */
const LOUD = 80;
/** Shortest gap that counts, in milliseconds: shorter ones are consonants. */
const SHORTEST_GAP_MS = 60;

/** @returns 432 turns less those in which the voice makes no pause */
export async function spokenTurns(voice: Voice): Promise<readonly SpokenTurn[]> {
  const turns: SpokenTurn[] = [];
  for (const [language, sentences] of Object.entries(SENTENCES))
    for (const text of sentences)
      for (const variant of VARIANTS)
        for (const speed of SPEEDS) {
          const sound = await spoken(voice, { text, language, variant, speed });
          const gap = longestGap(sound);
          if (gap === undefined) continue;
          const pauseMs = PAUSES_MS[turns.length % PAUSES_MS.length]!;
          turns.push({ language, start: sound.slice(0, gap.from), pauseMs, rest: sound.slice(gap.to) });
        }
  return turns;
}

export async function spokenBackchannels(voice: Voice): Promise<readonly SpokenBackchannel[]> {
  const all: SpokenBackchannel[] = [];
  for (const text of BACKCHANNELS)
    for (const variant of VARIANTS)
      for (const speed of SPEEDS) all.push({ text, sound: await spoken(voice, { text, language: 'en-us', variant, speed }) });
  return all;
}

/** Adds as much silence, and the noise of a quiet room. */
export function withSilence(sound: Int16Array, ms: number): Int16Array<ArrayBuffer> {
  const samples = new Int16Array(sound.length + (SAMPLE_RATE * ms) / 1_000);
  samples.set(sound);
  let state = 1;
  return samples.map((sample) => {
    state = (Math.imul(state, 1_103_515_245) + 12_345) >>> 0;
    return Math.max(-32_768, Math.min(32_767, sample + ((state >>> 16) % 21) - 10));
  });
}

async function spoken(voice: Voice, what: Readonly<Record<string, unknown>>): Promise<Int16Array> {
  const { pcm, rate } = await voice({ do: 'speak', ...what });
  const sound = resample(samplesOf(Buffer.from(String(pcm), 'base64')), Number(rate), SAMPLE_RATE);
  const loud = loudWindows(sound);
  return sound.slice(loud.indexOf(true) * WINDOW, (loud.lastIndexOf(true) + 1) * WINDOW);
}

const WINDOW = SAMPLE_RATE / 100;

function loudWindows(sound: Int16Array): readonly boolean[] {
  return Array.from({ length: Math.floor(sound.length / WINDOW) }, (_, index) => {
    const window = sound.subarray(index * WINDOW, (index + 1) * WINDOW);
    return window.reduce((sum, sample) => sum + Math.abs(sample), 0) / WINDOW > LOUD;
  });
}

function longestGap(sound: Int16Array): { readonly from: number; readonly to: number } | undefined {
  let best = { from: 0, to: 0 };
  let from = 0;
  for (const [index, loud] of loudWindows(sound).entries()) {
    if (!loud) continue;
    if (index * WINDOW - from > best.to - best.from) best = { from, to: index * WINDOW };
    from = (index + 1) * WINDOW;
  }
  return best.to - best.from >= (SHORTEST_GAP_MS * SAMPLE_RATE) / 1_000 ? best : undefined;
}
