/** Says what went wrong, and what to do, in words for the person at the page. */
import { plainName } from './texts.ts';

/** The body of a refusal: `{error, message}`, or `{detail: [{loc, msg}]}`. */
interface Refusal {
  readonly error?: string;
  readonly message?: string;
  readonly detail?: readonly { readonly loc: readonly unknown[]; readonly msg: string }[];
}

export function refusalText(status: number, answer: unknown): string {
  const { error, message, detail } = (answer ?? {}) as Refusal;
  if (status === 401) return 'This API key is not known, or not good any more. Use another one.';
  if (status === 403) return `${message?.replace(/^t/, 'T') ?? 'This API key may not do that'}.`;
  if (error === 'concurrent_call_limit_reached') return 'There are as many calls as there may be at once. Try again when one has ended.';
  if (detail !== undefined) return detail.map(({ loc, msg }) => `${plainName(String(loc.at(-1)))}: ${msg}.`).join(' ');
  return message ?? `The server answered ${status}.`;
}

/** Explains an error of the browser's microphone request, by the error's name. */
export function microphoneText(name: string): string {
  if (name === 'NotAllowedError') return 'The browser may not use the microphone. Allow it for this page, and call again.';
  if (name === 'NotFoundError') return 'There is no microphone. Connect one, and call again.';
  if (name === 'NotReadableError') return 'The microphone can not be read: another program may be using it.';
  return `The microphone can not be used (${name}).`;
}
