/** Bodies for the OpenAPI document; the tests send them, too. */

export const smallAgent = {
  agent_name: 'Receptionist',
  llm: { model_name: 'gpt-4o-mini' },
  stt: { provider: 'deepgram' },
  tts: { provider: 'elevenlabs' },
};

export const fullAgent = {
  agent_name: 'Receptionist',
  language_code: 'en-US',
  welcome_message: 'Hello {{customer_name}}, how can I help?',
  llm: {
    model_provider: 'openai',
    model_name: 'gpt-4o-mini',
    model_temperature: 0.2,
    system_prompt: 'You answer the phone of a small hotel. Be brief and friendly.',
    required_dynamic_data: ['customer_name'],
    tools: [
      {
        function_tool: {
          name: 'find_booking',
          description: 'Finds a booking by its number.',
          parameters: { type: 'object', properties: { number: { type: 'string' } }, required: ['number'], additionalProperties: false },
        },
        additional_tool_info: { tool_type: 'custom', api: { endpoint: 'https://api.example.com/bookings/{number}', method: 'GET' } },
        tool_start_message: 'One moment, I am looking it up.',
      },
    ],
  },
  stt: { provider: 'deepgram', model: 'nova-3', keywords: ['Harbour Hotel', '{{customer_name}}'] },
  tts: { provider: 'elevenlabs', voice_id: 'EXAVITQu4vr4xnSDxMaL', voice_temperature: 0.5 },
  ambient_sound: 'office',
  ambient_sound_volume: 0.4,
  max_call_duration_seconds: 900,
  dynamic_data_config: [
    {
      url: 'https://api.example.com/customers/{{from_number}}',
      method: 'GET',
      timeout: 3000,
      cache: true,
      response_data: [{ name: 'customer_name', data: '$.name', context: 'The name of the caller.' }],
    },
  ],
  post_call_analysis: [{ type: 'enum', name: 'mood', description: 'How the caller felt.', choices: ['happy', 'neutral', 'angry'] }],
};

export const agentChange = { welcome_message: 'Good evening', llm: { model_temperature: 0.3 }, webhook_url: null };

export const REVISION = '5f7c3f0a9e1b4d2c8a6e0f9d7b5c3a1e2d4f6b8a0c9e7d5f3b1a2c4e6d8f0a1b';

export const agentExample = {
  ai_agent_id: 'receptionist-k3xq5w7z',
  agent_name: 'Receptionist',
  state: {
    ready: true,
    reason: 'Available',
    message: 'new calls start with the revision that the spec asks for',
    serving_revision: REVISION,
    desired_revision: REVISION,
  },
  language_code: 'en-US',
  llm: {
    llm_id: 'llm-0f3a9c41d2b7e865',
    llm_type: 'simple',
    model_provider: 'openai',
    model_name: 'gpt-4o-mini',
    fallbacks: [{ model_provider: 'anthropic', model_name: 'claude-haiku-4-5', api_key: '********' }],
    required_dynamic_data: [],
    tools: [],
  },
  handoffs: [],
  stt: { provider: 'deepgram', keywords: [], fallbacks: [] },
  tts: { provider: 'elevenlabs', voice_temperature: 0.5, fallbacks: [] },
  enable_user_interruptions: true,
  minimum_speech_duration_for_interruptions: 0.5,
  minimum_words_before_interruption: 0,
  interruption_acknowledgements: [],
  interruption_stop_words: [],
  wait_time_before_detecting_end_of_speech: 0.5,
  turn_detection_mode: 'model',
  ambient_sound: 'none',
  ambient_sound_volume: 1,
  end_call_after_silence_seconds: 30,
  enable_silence_reminder: true,
  max_call_duration_seconds: 1800,
  voicemail_detection_timeout_seconds: 90,
  enable_recording: true,
  dynamic_data_config: [],
  post_call_analysis: [],
};
