-- Calls count the requests to embedding and rerank models that their searches make. No row is read: every kind of before is still one.

ALTER TABLE parley.call_usage DROP CONSTRAINT call_usage_kind_check,
  ADD CONSTRAINT call_usage_kind_check CHECK (kind IN ('llm', 'stt', 'tts', 'embedding', 'rerank')) NOT VALID;
