/** What the agents' routes answer, as the OpenAPI document says it and the tests check it. */
import { z } from 'zod';

import { stateFields } from '../state/answers.ts';
import { attachedTool } from '../tools/fields.ts';

const agentState = z
  .object({
    ...stateFields,
    serving_revision: z.string().optional().describe('The revision that new calls start with; absent where none has been sound yet.'),
    desired_revision: z.string().optional().describe('The revision that the resource and all that it names ask for, as last reported.'),
  })
  .meta({ id: 'AgentState' });

const stringMap = z.record(z.string(), z.string());

export const agentAnswer = z
  .object({
    ai_agent_id: z.string().describe('Name of the Agent resource in the namespace of the organisation.'),
    created_by_user_id: z.string().optional(),
    agent_name: z.string(),
    state: agentState,
    language_code: z.string(),
    llm: z.object({
      llm_id: z.string(),
      llm_type: z.string(),
      model_provider: z.string(),
      model_name: z.string(),
      model_temperature: z.number(),
      llm_name: z.string().optional(),
      llm_description: z.string().optional(),
      base_url: z.string().optional(),
      api_key: z.string().optional().describe('`"********"` unless the key names the permission `secrets:read`.'),
      max_tokens: z.int().optional(),
      required_dynamic_data: z.array(z.string()),
      system_prompt: z.string().optional(),
      tools: z.array(attachedTool).describe('The tools that are attached, whoever attached them.'),
    }),
    stt: z.object({ provider: z.string(), model: z.string().optional() }),
    tts: z.object({
      provider: z.string(),
      voice_id: z.string().optional(),
      voice_name: z.string().optional(),
      model_name: z.string().optional(),
      voice_temperature: z.number(),
    }),
    knowledge_base_id: z.string().optional(),
    enable_user_interruptions: z.boolean(),
    minimum_speech_duration_for_interruptions: z.number().describe('Seconds.'),
    minimum_words_before_interruption: z.int(),
    wait_time_before_detecting_end_of_speech: z.number().describe('Seconds.'),
    ambient_sound: z.string(),
    ambient_sound_volume: z.number(),
    webhook_url: z.string().optional(),
    end_call_after_silence_seconds: z.number(),
    enable_silence_reminder: z.boolean().describe('Whether the agent asks once, after half of that silence, if the user is still there.'),
    silence_reminder_message: z.string().optional().describe('What it asks; absent for "Are you still there?" in its language.'),
    max_call_duration_seconds: z.number(),
    welcome_message: z.string().optional(),
    voicemail_detection_timeout_seconds: z.number(),
    dynamic_data_config: z.array(
      z.object({
        url: z.string(),
        method: z.string(),
        timeout: z.number().describe('Milliseconds.'),
        headers: stringMap,
        body: z.record(z.string(), z.unknown()),
        query: z.record(z.string(), z.union([z.string(), z.number(), z.boolean()])),
        cache: z.boolean(),
        response_data: z.array(z.object({ name: z.string(), data: z.string(), context: z.string().optional() })),
      }),
    ),
    post_call_analysis: z.array(
      z.object({
        type: z.string(),
        name: z.string(),
        description: z.string().optional(),
        system_prompt: z.string().optional(),
        examples: z.array(z.string()),
        choices: z.array(z.string()),
      }),
    ),
  })
  .meta({ id: 'Agent' });
