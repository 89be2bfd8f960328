import { routesOf } from '../http/route.ts';
import { explanation } from './answers.ts';

export const explainResource = routesOf('Explanations')({
  method: 'GET',
  path: '/v1/explain/:kind/:name',
  operationId: 'explainResource',
  mcp: {},
  summary: 'Explain why an object is not in use, and what to do',
  description:
    'Makes the checks of the operator again, with everything that the object needs as it is now: what `parley explain` shows. In addition to `agents:read` it needs the permission to read the kind.',
  permission: 'agents:read',
  params: {
    kind: '`agent`, `tool`, `phone_number`, `knowledge_base`, `webhook_subscription` or `agent_test`.',
    name: 'The id of the object, which is the name of its resource.',
  },
  answers: {
    200: {
      description: 'The explanation.',
      schema: explanation,
      example: {
        kind: 'Agent',
        name: 'receptionist',
        ready: false,
        summary: 'something in it, or in what it names, needs correcting',
        problems: [
          {
            condition: 'ResolvedRefs',
            reason: 'SecretNotFound',
            message: 'Secret acme/keys does not exist',
            cure: 'Create the Secret, or change the reference.',
          },
        ],
        remarks: [],
        refers_to: [{ object: 'Secret keys, key apiKey', field: 'spec.llm.apiKeySecretRef', state: 'does not exist', sound: false }],
        notes: [],
      },
    },
  },
  errors: ['not_found'],
});
