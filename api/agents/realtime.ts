/** Translates an agent's realtime session between REST and the resource. */
import { z } from 'zod';

import { originOf } from '../../crds/address.ts';
import { agentKind } from '../../crds/index.ts';
import { listed, realtimeProviders } from '../../crds/providers.ts';
import { secret, whole } from '../codec/conversions.ts';
import { fieldsOf } from '../codec/fields-of.ts';
import { schemaAt } from '../codec/rest-schema.ts';
import { issues } from '../validation/issue.ts';

const { field } = fieldsOf(schemaAt(agentKind.spec, 'realtime'));

const TEXT = 'A model that hears the user itself and answers in one session; `llm` and `stt` go on where its connection is lost';

export const realtime = fieldsOf(agentKind.spec).field('realtime', {
  as: whole(
    {
      model_provider: field('provider', {
        body: () => z.enum(realtimeProviders).meta({ id: 'RealtimeProvider' }),
        answer: z.string(),
        text: `${listed(realtimeProviders, 'or')}.`,
      }),
      model_name: field('model'),
      transcription_model: field('transcriptionModel'),
      base_url: field('baseURL'),
      api_key: field('apiKeySecretRef', {
        as: secret,
        sentTo: ({ provider = 'openai', baseURL } = {}) => ({
          'realtime.model_provider': provider,
          'realtime.base_url': baseURL === undefined ? "the provider's own" : originOf(baseURL),
        }),
      }),
    },
    {
      name: 'Realtime',
      rule: (item, loc) =>
        (item.model_provider ?? 'openai') !== 'openai' && (item.base_url ?? undefined) === undefined
          ? [issues.value([...loc, 'base_url'], `model_provider ${item.model_provider} needs a base_url`)]
          : [],
    },
  ),
  text: { body: `${TEXT}; none where absent, or null.`, answer: `${TEXT}; absent where there is none.` },
});
