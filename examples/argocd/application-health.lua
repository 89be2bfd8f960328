-- How Argo CD sees an Application within an app of apps: without this it takes none into account, and no wave waits for one.
local hs = { status = "Progressing", message = "Waiting for the first sync" }
if obj.status ~= nil and obj.status.health ~= nil and obj.status.health.status ~= nil then
  hs.status = obj.status.health.status
  hs.message = obj.status.health.message or ""
end
return hs
