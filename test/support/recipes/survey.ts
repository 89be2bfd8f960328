import { call, sayAnd, type RecipeScript } from './stand-in.ts';

const thanks = (text: string) => sayAnd(text, 'end_call');
const goodMoment = {
  told: ['Say that it is about three short questions, and ask whether it is a good moment.'],
  does: 'It is about your touring bicycle, with three short questions. Is it a good moment?',
  untold: 'How satisfied are you with your bicycle?',
};
const order = ['Ask one after the other: how satisfied they are from 0 to 10'];
const once = ['Call save_answers once, after the third answer.'];
const pedal = 'A loose pedal; waits for a call.';

export const survey: RecipeScript = {
  cues: [
    { on: /^save_answers/, asked: /soup/, does: thanks('Of course. Thank you, goodbye!') },
    {
      on: /^save_answers/,
      asked: /pedal/,
      told: ['say that the shop will call back, and put them into the comment. Promise nothing else.'],
      does: 'The shop will call you about the pedal. Thank you!',
      untold: 'The shop will call you, and the pedal is free of charge. Thank you!',
    },
    {
      on: /^save_answers/,
      told: ['Thank them, say goodbye and end the call.'],
      does: thanks('Thank you very much. Goodbye!'),
      untold: 'Noted.',
    },
    {
      on: /^stop_calls/,
      told: ["say that they won't be called again, and end the call."],
      does: thanks("You won't be called again. Goodbye!"),
      untold: 'Noted. And how satisfied are you?',
    },
    {
      on: /daughter/,
      told: [
        'Speak of the purchase only once the person has said that they are',
        'Somebody else: say that you will call again, nothing more, and end the call.',
      ],
      does: thanks('I will call again. Goodbye!'),
      untold: 'It is about a bicycle.',
    },
    {
      on: /Take me off/,
      told: ["If they don't want such calls, call stop_calls"],
      does: call('stop_calls'),
      untold: 'It takes only two minutes.',
    },
    {
      on: /driving/,
      told: ['If not, thank them, say goodbye and end the call.'],
      does: thanks('No problem. Thank you, goodbye!'),
      untold: 'It takes only two minutes.',
    },
    {
      on: /soup/,
      told: ['If they stop in between, call save_answers with what they have said'],
      does: call('save_answers', { satisfaction: 4 }),
      untold: thanks('Goodbye!'),
    },
    { on: /^(?:Yes, that's me|Speaking|Yes, it is|That is me)/, ...goodMoment },
    { on: /^(?:Sure|Fine|With pleasure)/, told: order, does: 'From 0 to 10, how satisfied are you with it?', untold: 'Do you like it?' },
    { on: /^(?:Nine|Ten)/, does: 'Would you buy from Harbour Bikes again?' },
    { on: /of course/, told: order, does: 'And what could be better?', untold: 'Thank you.' },
    {
      on: /bell/,
      told: once,
      does: call('save_answers', { satisfaction: 9, buys_again: true, comment: 'The bell is a bit quiet.' }),
      untold: thanks('Thank you. Goodbye!'),
    },
    { on: /pedal/, told: once, does: call('save_answers', { satisfaction: 10, buys_again: true, comment: pedal }) },
  ],
  judgements: {
    'does not say why it calls': (said) => !/bicycle/.test(said),
    'promises a call of the shop and nothing else': (said) => /shop will call/.test(said) && !/free of charge/.test(said),
  },
  user: [
    { on: /Am I speaking/, says: 'That is me! I was just out on tour.' },
    { on: /good moment/, says: 'With pleasure, I have all day.' },
    { on: /0 to 10/, says: 'Ten! You should have seen me on the hill.' },
    { on: /again\?/, says: 'Yes, of course, I tell everybody.' },
    { on: /better\?/, says: 'The left pedal is loose. Please have the shop call me.' },
    { on: /will call you/, says: 'Lovely. Bye!', done: true },
  ],
  analysis: (transcript) => ({ satisfaction: transcript.includes('Nine') ? 9 : null, wants_callback: transcript.includes('pedal') }),
};
