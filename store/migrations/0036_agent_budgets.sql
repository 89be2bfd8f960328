-- What the calls of an agent may cost in a day, as its spec has it now, whichever revisions serve: {daily, currency, timeZone}. Null for any.
ALTER TABLE parley.agent_serving ADD COLUMN budget jsonb CHECK (jsonb_typeof(budget) = 'object');
GRANT UPDATE (budget) ON parley.agent_serving TO parley_app;

-- Revisions had it until now. Not even from the owner of the tables are rows hidden meanwhile.
ALTER TABLE parley.agent_serving NO FORCE ROW LEVEL SECURITY;
ALTER TABLE parley.agent_revisions NO FORCE ROW LEVEL SECURITY;
UPDATE parley.agent_serving s
SET budget = (r.config #> '{agent,budget}') || jsonb_build_object('timeZone', COALESCE(r.config #>> '{agent,timeZone}', 'UTC'))
FROM parley.agent_revisions r
WHERE r.org = s.org AND r.agent_uid = s.agent_uid AND r.revision = s.revision AND r.config #> '{agent,budget}' IS NOT NULL;
ALTER TABLE parley.agent_serving FORCE ROW LEVEL SECURITY;
ALTER TABLE parley.agent_revisions FORCE ROW LEVEL SECURITY;
