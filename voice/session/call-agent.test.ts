import { llm } from '@livekit/agents';
import { expect, it } from 'vitest';

import { CallAgent, inOrderOfCalls, resultsLast } from './call-agent.ts';
import { Synthesis } from './synthesis.ts';

const said = (role: 'user' | 'assistant', content: string) => llm.ChatMessage.create({ role, content });
const call = (callId: string) => llm.FunctionCall.create({ callId, name: 'find_order', args: '{}' });
const result = (callId: string) => llm.FunctionCallOutput.create({ callId, name: 'find_order', output: 'fine', isError: false });

it('ends a request with the results of tools, and keeps the order of all else', () => {
  const [welcome, question, first, second] = [said('assistant', 'Hello.'), said('user', 'Where is it?'), call('1'), call('2')];
  const [one, two, meanwhile, more] = [result('1'), result('2'), said('assistant', 'It is'), said('assistant', 'One moment.')];
  const calls = [first, second, one, two];
  expect(resultsLast([welcome, question, ...calls, meanwhile, more])).toEqual([welcome, question, meanwhile, more, ...calls]);
  for (const items of [[], [welcome], [welcome, question], [question, meanwhile], [question, ...calls], [...calls, meanwhile, question]])
    expect(resultsLast(items)).toEqual(items);
});

it('has calls of one answer, and their results, in the order in which the model made them', () => {
  const made = (id: string) => llm.FunctionCall.create({ id, callId: id, name: 'find_order', args: '{}' });
  const [slow, fast, later] = [made('a/fnc_0'), made('a/fnc_1'), made('b/fnc_0')];
  const [question, gone] = [said('user', 'Where is it?'), result('c')];
  const [slowResult, fastResult, laterResult] = [result(slow.callId), result(fast.callId), result(later.callId)];
  expect(inOrderOfCalls([question, fast, slow, fastResult, slowResult, later, gone, laterResult])).toEqual([
    question,
    slow,
    fast,
    slowResult,
    fastResult,
    later,
    gone,
    laterResult,
  ]);
});

it('asks with what was heard of an answer that was still being wound up', async () => {
  const [question, more] = [said('user', 'Where is it?'), said('user', 'The other one.')].map((item, at) =>
    Object.assign(item, { createdAt: at * 2 }),
  );
  const heard = llm.ChatMessage.create({ role: 'assistant', content: 'It is', interrupted: true, createdAt: 1 });
  const agent: CallAgent = new CallAgent({
    instructions: '',
    tools: {},
    heeds: () => true,
    onDropped: () => undefined,
    synthesize: () => new Synthesis(),
    interrupted: () => agent.updateChatCtx(new llm.ChatContext([question!, heard])),
  });
  const asked = new llm.ChatContext([question!, more!]);
  // There is no session whose model could answer.
  await expect(agent.llmNode(asked, new llm.ToolContext([]), {})).rejects.toThrow('activity not found');
  expect(asked.items).toEqual([question, heard, more]);
});
