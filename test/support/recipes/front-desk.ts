import type { ReceivedChat } from '../provider-server.ts';
import { call, sayAnd, type RecipeScript } from './stand-in.ts';

/** The caller's last words: what the model of an agent that takes over is told comes after them. */
const saidBy = ({ messages }: ReceivedChat): string =>
  messages.findLast(({ role, content }) => role === 'user' && !content.startsWith('('))?.content ?? '';

const numberIn = (words: string): string => words.replaceAll(/\D/g, '').slice(0, 5);
const findBill = (request: ReceivedChat) => {
  const number = numberIn(saidBy(request));
  return number.length === 5 ? call('find_bill', { number }) : 'Which bill is it about?';
};
const toAppointments = call('hand_over_to_dentist_appointments');
const toBilling = call('hand_over_to_dentist_billing');
const book = call('book_calendar', { start: '2031-05-08T09:30', attendee_name: 'Ada Byron', attendee_email: 'ada@example.com' });

export const frontDesk: RecipeScript = {
  cues: [
    { on: /about to be handed over/, does: (request) => `The caller said: ${saidBy(request)}` },
    {
      on: /^\(.* has handed the call over to you/,
      told: ['Call check_calendar_availability before you offer a time.'],
      does: call('check_calendar_availability', { start_date: '2031-05-08', end_date: '2031-05-08' }),
      untold: (request) => (request.system.includes('bills') ? billing(request) : 'You can come at 8:00.'),
    },
    {
      on: /^check_calendar_availability .*T14:15/,
      told: ['Offer at most two times.'],
      does: 'On that Thursday 9:30 or 14:15 is free. Which do you prefer?',
      untold: '9:30, 14:15 or 8:00 is free.',
    },
    {
      on: /^find_bill .*95 dollars/,
      told: ['Say what is open and until when.'],
      does: '95 dollars are open until May 31.',
      untold: 'I found it.',
    },
    { on: /^find_bill/, does: 'It is paid, nothing is open.' },
    { on: /^book_calendar/, does: 'You are booked. Is there anything else?' },
    {
      on: /swollen/,
      told: ['Severe pain, swelling, bleeding or an accident: call transfer_call at once'],
      does: call('transfer_call'),
      untold: toAppointments,
    },
    {
      on: /more question about the bill/,
      told: ['Anything about a bill: hand over to billing.'],
      does: toBilling,
      untold: 'I only make appointments.',
    },
    {
      on: /need a cleaning/,
      told: ['Anything about an appointment: hand over to appointments.'],
      does: toAppointments,
      untold: 'I only know about bills.',
    },
    {
      on: /check-up/,
      told: ['Hand over as soon as you know what it is about.', 'the caller wants to make an appointment'],
      does: toAppointments,
      untold: 'Which day suits you?',
    },
    {
      on: /my bill/,
      told: ['Hand over as soon as you know what it is about.', 'the caller asks about a bill or a payment'],
      does: toBilling,
      untold: 'Which bill is it?',
    },
    {
      on: /for 80/,
      told: ['Take no payment, and promise no reduction'],
      does: 'I am sorry, only the doctor can decide that.',
      untold: 'Of course, 80 dollars it is.',
    },
    {
      on: /Fridays/,
      told: ['Opening hours: Monday to Thursday from 8 to 17, Friday from 8 to 13.'],
      does: 'On Fridays we are open from 8 to 13.',
      untold: toAppointments,
    },
    {
      on: /^I have a question\.$/,
      told: ["A caller who doesn't say what it is about: ask whether it is about an appointment or about a bill."],
      does: 'Gladly. Is it about an appointment or about a bill?',
      untold: toBilling,
    },
    {
      on: /Ada Byron/,
      told: ['Call book_calendar only after a clear yes to the day, the time and the name.'],
      does: 'So that is Thursday, May 8, at 9:30, for Ada Byron. Is that right?',
      untold: book,
    },
    { on: /^Yes/, does: book },
    {
      on: /[Bb]ye/,
      told: ['When the caller wants nothing more, say goodbye and end the call.'],
      does: sayAnd('Goodbye!', 'end_call'),
      untold: 'Goodbye!',
    },
  ],
  judgements: { 'promises no reduction': (said) => /only the doctor/.test(said) },
  analysis: (transcript) => ({
    reason: transcript.includes('95 dollars') ? 'bill' : 'appointment',
    booked: transcript.includes('You are booked'),
  }),
};

/** The billing takes over. */
function billing(request: ReceivedChat) {
  const isTold = request.system.includes('Call find_bill before you say anything about a bill.');
  return isTold ? findBill(request) : 'I think that all is paid.';
}
