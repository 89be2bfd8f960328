/** What went wrong, and what to do, in words for the person at the page. */

/** `{error, message}`, or `{detail: [{loc, msg}]}`. */
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
  if (detail !== undefined) {
    const names = detail.map(({ loc }) => String(loc.at(-1))).join(', ');
    return `The agent needs: ${names}.`;
  }
  return message ?? `The server answered ${status}.`;
}

/** Of what a browser throws when it is asked for the microphone, by its name. */
export function microphoneText(name: string): string {
  if (name === 'NotAllowedError') return 'The browser may not use the microphone. Allow it for this page, and call again.';
  if (name === 'NotFoundError') return 'There is no microphone. Connect one, and call again.';
  if (name === 'NotReadableError') return 'The microphone can not be read: another program may be using it.';
  return `The microphone can not be used (${name}).`;
}

const endings: Readonly<Record<string, string>> = {
  user_ended_call: 'You hung up.',
  agent_ended_call: 'The agent hung up.',
  call_transferred: 'The call was transferred.',
  inactivity_timeout: 'The call was silent for too long.',
  maximum_duration_exceeded: 'The longest duration was reached.',
  user_connection_failure: 'The connection was lost.',
  no_audio_input: 'Nothing was heard from your microphone.',
  speech_recognition_error: 'What you said could not be recognised: the speech-to-text service failed.',
};

/** @param reason of a call that is over, as REST has it */
export function endingText(reason: string | undefined): string {
  if (reason === undefined) return 'The call is not over yet.';
  const known = endings[reason];
  if (known !== undefined) return known;
  if (reason.startsWith('llm_websocket_')) return `The language model failed (${reason}).`;
  return `The call ended with ${reason}.`;
}
