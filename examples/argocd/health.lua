-- How Argo CD sees an Agent, Tool, PhoneNumber, KnowledgeBase, WebhookSubscription or AgentTest.
-- One script for all six: their conditions mean the same.
local hs = { status = "Progressing", message = "Waiting for the operator" }

-- A status of an older generation says nothing of what was just applied, or of a deletion that was just asked for.
local conditions = {}
if obj.status ~= nil and (obj.status.observedGeneration or -1) >= (obj.metadata.generation or 0) then
  for _, condition in ipairs(obj.status.conditions or {}) do
    conditions[condition.type] = condition
  end
end
local ready = conditions["Ready"]
local stalled = conditions["Stalled"]
local stuck = stalled ~= nil and stalled.status == "True"

if obj.metadata.deletionTimestamp ~= nil then
  hs.message = "Being deleted"
  if stuck then
    hs.status = "Degraded"
    hs.message = "Being deleted: " .. (stalled.message or stalled.reason or "Stalled")
  end
  return hs
end

if obj.spec ~= nil and obj.spec.suspend == true then
  hs.status = "Suspended"
  hs.message = "spec.suspend is true"
  return hs
end

if ready ~= nil and ready.status == "True" then
  hs.status = "Healthy"
  hs.message = ready.message or ""
  return hs
end

-- A person is needed: waiting longer won't help.
if stuck then
  hs.status = "Degraded"
  hs.message = stalled.message or stalled.reason or "Stalled"
  if obj.status.servingRevision ~= nil and obj.status.servingRevision ~= "" then
    hs.message = hs.message .. " (calls continue with the last valid revision)"
  end
  return hs
end

if ready ~= nil and ready.message ~= nil then
  hs.message = ready.message
end
return hs
