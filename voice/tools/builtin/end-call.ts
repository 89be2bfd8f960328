import { NO_MESSAGES, type ToolDefinition } from '../tool-result.ts';
import type { ToolHost } from '../tool-host.ts';

/** Creates the tool, which is offered to every agent. The user still hears the words of the same answer; the model isn't asked again. */
export function createEndCall(host: ToolHost): ToolDefinition {
  return {
    name: 'end_call',
    description:
      'Ends the call. Use it when the user says goodbye or wants nothing more, and say goodbye in the same answer: nothing can be said after it.',
    parameters: { type: 'object', properties: {}, additionalProperties: false },
    messages: NO_MESSAGES,
    actsOnCall: 'ends',
    // Arguments do not keep the user in the call.
    refuse: () => undefined,
    async run() {
      host.end();
      return { succeeded: true };
    },
  };
}
