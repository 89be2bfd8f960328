/** Stands above the routes in `/docs`, in Markdown, and tells a person how to begin. */
export const INTRODUCTION = `Voice agents and what belongs to them. Every object is a Kubernetes resource in the namespace of its organisation: what is made here can be read and changed with kubectl, and the other way round. Every address also works with the slash at its end left out or added.

## Begin

1. Make an API key, on a machine with the \`parley\` command: \`parley keys create --org acme --name first\`. With the local stack there is one already: \`eval "$(parley env)"\` sets \`PARLEY_API_KEY\`.
2. On this page: press **Authorize**, paste the key, open \`GET /v2/ai-agents\` and press **Try it out**, then **Execute**.
3. In a terminal, list the agents:

\`\`\`sh
curl -s -H "Authorization: Bearer $PARLEY_API_KEY" "$PARLEY_URL/v2/ai-agents"
\`\`\`

4. Make an agent. Its answer has the \`ai_agent_id\`, and in \`state\` whether the agent takes calls or what is missing:

\`\`\`sh
curl -s -X POST "$PARLEY_URL/v2/ai-agents" -H "Authorization: Bearer $PARLEY_API_KEY" -H 'Content-Type: application/json' -d '{
  "agent_name": "Receptionist",
  "llm": {"model_provider": "openai", "model_name": "gpt-4o-mini", "system_prompt": "You answer the phone of a bicycle workshop."},
  "stt": {"provider": "deepgram"},
  "tts": {"provider": "deepgram"}
}'
\`\`\`

5. Talk to it: \`parley call <ai_agent_id>\`, or the page \`/call\` of this server.

A request that can't be used is answered with 422 and everything that is wrong with it; 429 says in \`Retry-After\` when to try again. An update of an agent keeps what its body does not name; \`null\` brings back the default. Answers may get new fields, and their choices (\`x-extensible-enum\`) new values.`;
