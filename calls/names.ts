/** Names of rooms and participants at the media server, metadata of jobs, keys of recordings. */

/** The name is as hard to guess as the id of the call. */
export function roomOf(callId: string): string {
  return `call-${callId.slice('call_'.length)}`;
}

/** A second participant with the same identity replaces the first. */
export function userIdentityOf(callId: string): string {
  return `user-${callId}`;
}

/** The identity of somebody who hears a call and is seen by nobody. @param id id of the command that let them in */
export function listenerIdentityOf(id: string): string {
  return `listener-${id}`;
}

/** The identity of somebody who takes a call over. @param id id of the command that let them in */
export function supervisorIdentityOf(id: string): string {
  return `supervisor-${id}`;
}

export function isSupervisor(identity: string): boolean {
  return identity.startsWith('supervisor-');
}

/** Whether the participant is there for the sake of a call, and neither its user nor its agent. */
export function isBeside(identity: string): boolean {
  return isSupervisor(identity) || identity.startsWith('listener-');
}

/** Attribute of the agent once it has said its welcome message, or has none: from then on a user who waits for a turn may speak. */
export const WELCOMED_ATTRIBUTE = 'parley.welcomed';

/** Topic of the message with which the API asks the agent of a room to end its call. */
export const END_TOPIC = 'parley.end';

/** Topic of the message with which the API tells the agent of a room that there are commands for its call. */
export const CONTROL_TOPIC = 'parley.control';

/** Topic of the message with which the API tells the agent of a room that somebody follows its call. */
export const WATCH_TOPIC = 'parley.watch';

/** How long such a message counts, in milliseconds. */
export const WATCH_MS = 30_000;

/** Participants can read it: it names the call and nothing else. */
export function dispatchMetadata(callId: string): string {
  return JSON.stringify({ call_id: callId });
}

export function callIdOfDispatch(metadata: string): string | undefined {
  try {
    const { call_id: id } = JSON.parse(metadata) as { readonly call_id?: unknown };
    return typeof id === 'string' ? id : undefined;
  } catch {
    return undefined;
  }
}

export function recordingKey(org: string, callId: string): string {
  return `recordings/${org}/${callId}.ogg`;
}

/** The job of a call by phone gets nothing else: Postgres knows whose number it is, because participants can read this. */
export const INBOUND_DISPATCH_METADATA = JSON.stringify({ phone: 'inbound' });

/** The gateway names rooms of calls that come in: with this, then the number of the caller and something random. */
export const INBOUND_ROOM_PREFIX = 'call-';

/** Whether the gateway has named the room: it puts a `_` after the prefix, which no id of a call has. */
export function isInboundRoom(name: string): boolean {
  return name.startsWith(`${INBOUND_ROOM_PREFIX}_`);
}

/** Whether a job is for a call that came in by phone, and has no row yet. */
export function isInboundDispatch(metadata: string): boolean {
  return metadata === INBOUND_DISPATCH_METADATA;
}
