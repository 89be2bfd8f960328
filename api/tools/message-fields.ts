/** Names the texts that an agent says while a tool runs, for a tool and for a single tool of an MCP server. */
import { saidWhen } from '../../crds/tool.ts';

type Moment = keyof typeof saidWhen;
type MessageName = `tool_${Moment}_message`;

const moments = Object.keys(saidWhen) as readonly Moment[];
const messageName = (moment: Moment): MessageName => `tool_${moment}_message`;

/** Makes a value for each moment, by the name of its text in REST. */
export function eachMessage<T>(make: (moment: Moment) => T): Readonly<Record<MessageName, T>> {
  return Object.fromEntries(moments.map((moment) => [messageName(moment), make(moment)])) as Record<MessageName, T>;
}
