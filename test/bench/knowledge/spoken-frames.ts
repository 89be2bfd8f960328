/** Makes questions as they are heard in a call: in lower case, without punctuation, with something said before and after. */

/** Phrases, some of which the search knows. */
const FRAMES: Readonly<Record<string, readonly (readonly [before: string, after: string])[]>> = {
  de: [
    ['äh hallo ja guten tag also ich wollte mal fragen', 'bitte'],
    ['ähm guten morgen mein name ist müller ich hätte da eine frage', 'danke schön'],
    ['ja hallo ich weiß nicht ob sie mir helfen können aber', ''],
    ['hallo können sie mir vielleicht sagen', 'das wäre super'],
    ['grüß gott ich rufe an weil ich gern wissen würde', 'vielen dank'],
    ["hi ich bin's nochmal sagen sie mal", 'oder so'],
    ['schönen guten abend meine tochter hat mich gebeten mich zu erkundigen', 'wenn es keine umstände macht'],
    ['hm also ja ich sitze gerade im auto und wollte kurz klären', 'wissen sie das'],
  ],
  en: [
    ['hi um so my friend told me', 'please'],
    ['hello good morning i was wondering', 'thank you'],
    ['uh yeah hi i just wanted to ask', 'does that make sense'],
    ['hey there i have a question', 'thanks'],
    ["good afternoon i'm calling because i would like to know", "if you don't mind"],
    ['okay so like my neighbour said that', 'is that right'],
    ['hello my daughter asked me to find out', 'if it is no trouble'],
    ['sorry um i am in the car right now and', 'you know'],
  ],
};

/** @returns undefined where there are no frames in the language */
export function spoken(question: string, position: number, language: string): string | undefined {
  const frames = FRAMES[language];
  const frame = frames?.[position % frames.length];
  if (frame === undefined) return undefined;
  const bare = question.toLowerCase().replaceAll(/[.,;:?!"„“”()]/g, '');
  return `${frame[0]} ${bare} ${frame[1]}`.trim();
}
