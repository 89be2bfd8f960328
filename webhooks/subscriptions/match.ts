/** Decides which endpoint gets which event. {@link matches} is the rule; the index only spares asking every endpoint. */
import type { Endpoint, EventToMatch } from './endpoint.ts';

/** Events that the implicit endpoint of an agent gets. */
const callEvents = ['CallHandler.', 'CallAnalysis.'] as const;

const isCallEvent = (name: string): boolean => callEvents.some((prefix) => name.startsWith(prefix));

export function matches(endpoint: Endpoint, event: EventToMatch): boolean {
  if (endpoint.org !== event.org) return false;
  // The event is meant for one subscription, whatever that has asked for otherwise.
  if (event.onlySubscription !== undefined) return endpoint.uid === event.onlySubscription;
  if (endpoint.uid === event.exceptSubscription) return false;
  if (endpoint.kind === 'Agent') return event.agent === endpoint.name && isCallEvent(event.name);
  return hasEvent(endpoint, event.name) && inScope(endpoint, event);
}

function hasEvent({ events }: Endpoint, name: string): boolean {
  return events.length === 0 || events.includes(name);
}

function inScope({ scope }: Endpoint, { agent, workspace }: EventToMatch): boolean {
  if (scope?.agents !== undefined) return agent !== undefined && scope.agents.includes(agent);
  if (scope?.workspaces !== undefined) return workspace !== undefined && scope.workspaces.includes(workspace);
  return true;
}

const SEPARATOR = '\n';
/** No event and no place is called so. */
const EVERY = '';

const key = (...parts: readonly string[]): string => parts.join(SEPARATOR);

/** Most keys of one endpoint; more for one with many agents or workspaces. */
const MOST_KEYS = 100;

/** Returns the keys of an index of its kind under which an endpoint stands: organisation, event and scope; organisation and name of an agent. */
export function indexKeys({ org, kind, name, events, scope }: Endpoint): readonly string[] {
  if (kind === 'Agent') return [key(org, name)];
  const places =
    scope?.agents !== undefined
      ? scope.agents.map((agent) => key('agent', agent))
      : scope?.workspaces !== undefined
        ? scope.workspaces.map((workspace) => key('workspace', workspace))
        : [EVERY];
  // The endpoint is rather looked at in vain now and then than entered under thousands of keys.
  const names = events.length === 0 || events.length * places.length > MOST_KEYS ? [EVERY] : events;
  return names.flatMap((event) => places.map((place) => key(org, event, place)));
}

/** Returns the keys of the subscriptions that may get an event that is not for one of them alone. No endpoint stands under two of the keys. */
export function lookupKeys({ org, name, agent, workspace }: EventToMatch): readonly string[] {
  const places = [EVERY];
  if (agent !== undefined) places.push(key('agent', agent));
  if (workspace !== undefined) places.push(key('workspace', workspace));
  return [EVERY, name].flatMap((event) => places.map((place) => key(org, event, place)));
}

/** Returns the key under which the implicit endpoint of an agent stands that gets the event. */
export function agentLookupKey({ org, name, agent }: EventToMatch): string | undefined {
  return agent !== undefined && isCallEvent(name) ? key(org, agent) : undefined;
}
