/** Translates `handoffs`, which names the agents that may take over in a call, between REST and the resource. */
import { agentKind } from '../../crds/index.ts';
import { choice, items, listUnlessEmpty, reference } from '../codec/conversions.ts';
import { fieldsOf } from '../codec/fields-of.ts';
import { schemaAt } from '../codec/rest-schema.ts';

const { field } = fieldsOf(schemaAt(agentKind.spec, 'handoffs.*'));

const fields = {
  ai_agent_id: field('agentRef', { as: reference, text: 'The agent that takes over.' }),
  when: field('when'),
  say: field('say'),
  context: field('context', {
    as: choice({ all: 'All', summary: 'Summary', none: 'None' }),
    id: 'HandoffContext',
    empty: 'all',
    text: 'What the other one learns of the conversation: `all` that both sides have said, a `summary` by the model of the agent, or `none` but the last words of the user.',
  }),
  carry: field('carry', { as: listUnlessEmpty, empty: [] }),
  voice: field('voice', {
    as: choice({ own: 'Own', keep: 'Keep' }),
    id: 'HandoffVoice',
    empty: 'own',
    text: '`own`: the other one speaks with its own voice; `keep`: with the voice that the user hears already.',
  }),
};

export const handoffs = fieldsOf(agentKind.spec).field('handoffs', {
  as: items(fields, {
    name: 'Handoff',
    match: (sent, stored) => sent.map((item) => stored.find(({ agentRef }) => agentRef.name === item.ai_agent_id)),
  }),
  text: 'Agents that may take over in a call. The model gets a function for each.',
  empty: [],
});
