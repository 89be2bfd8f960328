-- How Argo CD sees an Agent, Tool, PhoneNumber, KnowledgeBase or WebhookSubscription.
-- One script for all five: their conditions mean the same.
local hs = { status = "Progressing", message = "Waiting for the operator" }

if obj.metadata.deletionTimestamp ~= nil then
  hs.message = "Being deleted"
  return hs
end

if obj.spec ~= nil and obj.spec.suspend == true then
  hs.status = "Suspended"
  hs.message = "spec.suspend is true"
  return hs
end

if obj.status == nil or obj.status.conditions == nil then
  return hs
end

-- A status of an older generation says nothing of what was just applied.
if obj.status.observedGeneration == nil or obj.status.observedGeneration < obj.metadata.generation then
  return hs
end

local conditions = {}
for _, condition in ipairs(obj.status.conditions) do
  conditions[condition.type] = condition
end

local ready = conditions["Ready"]
if ready ~= nil and ready.status == "True" then
  hs.status = "Healthy"
  hs.message = ready.message or ""
  return hs
end

-- A person is needed: waiting longer won't help.
local stalled = conditions["Stalled"]
if stalled ~= nil and stalled.status == "True" then
  hs.status = "Degraded"
  hs.message = stalled.message or stalled.reason or "Stalled"
  if obj.status.servingRevision ~= nil and obj.status.servingRevision ~= "" then
    hs.message = hs.message .. " (calls go on with the last good revision)"
  end
  return hs
end

if ready ~= nil and ready.message ~= nil then
  hs.message = ready.message
end
return hs
