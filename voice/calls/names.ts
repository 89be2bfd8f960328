/** What the media server calls things. */

/** The room of a call; only who knows the call knows its room. */
export function roomOf(callId: string): string {
  return `call-${callId.slice('call_'.length)}`;
}

/** Who a participant is. One token, one participant: a second one with the same token takes the place of the first. */
export function userIdentityOf(callId: string): string {
  return `user-${callId}`;
}

/** Told to the job. Participants can read it: it names the call and nothing else. */
export function dispatchMetadata(callId: string): string {
  return JSON.stringify({ call_id: callId });
}

/** @returns undefined for what is no such metadata */
export function callIdOfDispatch(metadata: string): string | undefined {
  try {
    const { call_id: id } = JSON.parse(metadata) as { readonly call_id?: unknown };
    return typeof id === 'string' ? id : undefined;
  } catch {
    return undefined;
  }
}

/** Where the recording of a call stands in the storage of files. */
export function recordingKey(org: string, callId: string): string {
  return `recordings/${org}/${callId}.ogg`;
}
