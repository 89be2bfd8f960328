// Walks through 30 operations and more with a client that openapi-generator has made; prints what came as one JSON object.
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"os"

	parley "example.com/parley"
)

func must[T any](value T, _ *http.Response, err error) T {
	if err != nil {
		fail(err)
	}
	return value
}

func fail(err error) {
	if answered, ok := err.(*parley.GenericOpenAPIError); ok {
		err = fmt.Errorf("%w: %s", err, answered.Body())
	}
	fmt.Fprintln(os.Stderr, err)
	os.Exit(1)
}

func main() {
	configuration := parley.NewConfiguration()
	configuration.Servers = parley.ServerConfigurations{{URL: os.Getenv("PARLEY_URL")}}
	client := parley.NewAPIClient(configuration)
	ctx := context.WithValue(context.Background(), parley.ContextAccessToken, os.Getenv("PARLEY_API_KEY"))
	came := map[string]any{}
	walkAgents(ctx, client, came)
	walkNumbersAndKeys(ctx, client, came)
	walkKnowledge(ctx, client, came)
	walkWebhooks(ctx, client, came)
	walkCalls(ctx, client, came)
	text, err := json.Marshal(came)
	if err != nil {
		fail(err)
	}
	fmt.Println(string(text))
}

func walkAgents(ctx context.Context, client *parley.APIClient, came map[string]any) {
	agents, tools := client.AIAgentsAPI, client.ToolsAPI
	body := parley.NewAgentCreate("Go",
		*parley.NewLanguageModelCreate("gpt-4o-mini"),
		*parley.NewSpeechToTextCreate(parley.SPEECHTOTEXTPROVIDER_DEEPGRAM),
		*parley.NewTextToSpeechCreate(parley.TEXTTOSPEECHPROVIDER_ELEVENLABS))
	agent := must(agents.CreateAgent(ctx).AgentCreate(*body).IdempotencyKey("go-1").Execute())
	again := must(agents.CreateAgent(ctx).AgentCreate(*body).IdempotencyKey("go-1").Execute())
	came["same"] = agent.AiAgentId == again.AiAgentId
	update := parley.NewAgentUpdate()
	update.SetMaxCallDurationSeconds(60)
	changed := must(agents.UpdateAgent(ctx, agent.AiAgentId).AgentUpdate(*update).Execute())
	read := must(agents.GetAgent(ctx, agent.AiAgentId).Execute())
	came["agent"] = []any{read.AgentName, changed.MaxCallDurationSeconds}
	came["agents"] = len(must(agents.ListAgents(ctx).PageSize(100).Execute()).Data)

	tool := must(tools.CreateCustomTool(ctx, agent.AiAgentId).CustomToolCreate(*parley.NewCustomToolCreate(
		*parley.NewFunctionToolCreate("find_order"),
		*parley.NewCustomToolInfoCreate(*parley.NewCustomToolApiCreate("https://api.example.com/orders")))).Execute())
	must(tools.GetCustomTool(ctx, agent.AiAgentId, tool.ToolId).Execute())
	transfer := parley.NewTransferCallToolCreate("transfer_call", "+15550100")
	must(tools.CreateBuiltinTool(ctx, agent.AiAgentId).
		BuiltinToolCreate(parley.BuiltinToolCreate{TransferCallToolCreate: transfer}).Execute())
	builtin := must(tools.ListBuiltinTools(ctx, agent.AiAgentId).Execute())
	came["tools"] = []any{
		must(tools.ListCustomTools(ctx, agent.AiAgentId).Execute()).Data[0].FunctionTool.Name,
		builtin.Data[0].TransferCallTool.TransferTo,
	}
	must(tools.DeleteCustomTool(ctx, agent.AiAgentId, tool.ToolId).Execute())
	must(agents.DeleteAgent(ctx, agent.AiAgentId).Execute())
	_, missing, _ := agents.GetAgent(ctx, agent.AiAgentId).Execute()
	came["missing"] = missing.StatusCode
}

func walkNumbersAndKeys(ctx context.Context, client *parley.APIClient, came map[string]any) {
	numbers, keys := client.PhoneNumbersAPI, client.APIKeysAPI
	body := parley.PhoneNumberCreate{SipPhoneNumberCreate: parley.NewSipPhoneNumberCreate("+4930555012345")}
	number := must(numbers.CreatePhoneNumber(ctx).PhoneNumberCreate(body).Execute()).SipPhoneNumber
	must(numbers.GetPhoneNumber(ctx, number.Id).Execute())
	came["numbers"] = must(numbers.ListPhoneNumbers(ctx).Execute()).Data[0].SipPhoneNumber.PhoneNumber
	must(numbers.DeletePhoneNumber(ctx, number.Id).Execute())

	key := must(keys.CreateApiKey(ctx).
		ApiKeyCreate(*parley.NewApiKeyCreate("go", []parley.Permission{parley.PERMISSION_AGENTS_READ})).Execute())
	must(keys.ListApiKeys(ctx).Execute())
	before := must(keys.GetApiKey(ctx, key.KeyId).Execute())
	after := must(keys.RevokeApiKey(ctx, key.KeyId).Execute())
	came["revoked"] = []any{before.Revoked, after.Revoked}
}

func walkKnowledge(ctx context.Context, client *parley.APIClient, came map[string]any) {
	bases := client.KnowledgeBasesAPI
	base := must(bases.CreateKnowledgeBase(ctx).KnowledgeBaseCreate(*parley.NewKnowledgeBaseCreate("Manuals")).Execute())
	update := parley.NewKnowledgeBaseUpdate()
	update.SetDescription("Of devices")
	must(bases.UpdateKnowledgeBase(ctx, base.Id).KnowledgeBaseUpdate(*update).Execute())
	read := must(bases.GetKnowledgeBase(ctx, base.Id).Execute())
	came["description"] = *read.Description.Get()
	came["bases"] = len(must(bases.ListKnowledgeBases(ctx).Execute()).Data)
	must(bases.DeleteKnowledgeBase(ctx, base.Id).Execute())
}

func walkWebhooks(ctx context.Context, client *parley.APIClient, came map[string]any) {
	webhooks := client.WebhooksAPI
	subscription := must(webhooks.CreateWebhookSubscription(ctx).
		WebhookSubscriptionCreate(*parley.NewWebhookSubscriptionCreate("Go", "https://hooks.example.com", true)).Execute())
	must(webhooks.GetWebhookSubscription(ctx, subscription.Id).Execute())
	update := parley.NewWebhookSubscriptionUpdate()
	update.SetActive(false)
	came["active"] = must(webhooks.UpdateWebhookSubscription(ctx, subscription.Id).WebhookSubscriptionUpdate(*update).Execute()).Active
	came["subscriptions"] = must(webhooks.ListWebhookSubscriptions(ctx).PageSize(10).Execute()).TotalCount
	rotated := must(webhooks.RotateWebhookSecret(ctx, subscription.Id).
		WebhookSecretRotationRequest(*parley.NewWebhookSecretRotationRequest()).Execute())
	came["rotated"] = rotated.Secret != *subscription.Secret
	must(webhooks.ListWebhookDeliveries(ctx, subscription.Id).Execute())
	must(webhooks.ListWebhookEventTypes(ctx).Execute())
	must(webhooks.DeleteWebhookSubscription(ctx, subscription.Id).Execute())
}

func walkCalls(ctx context.Context, client *parley.APIClient, came map[string]any) {
	calls := client.CallsAPI
	body := parley.NewWebCallCreate("receptionist")
	body.SetMetadata(map[string]any{"ticket": 4711})
	call := must(calls.CreateWebCall(ctx).WebCallCreate(*body).Execute())
	came["call"] = []any{call.CallStatus, must(calls.GetCall(ctx, call.Id).Execute()).Metadata["ticket"]}
	came["calls"] = must(calls.ListCalls(ctx).CallStatus(parley.CALLSTATUS_REGISTERED).Execute()).TotalCount
	must(calls.EndCall(ctx, call.Id).Execute())
	must(calls.GetUsage(ctx).Execute())
	must(client.AgentTestsAPI.ListAgentTests(ctx).Execute())
	must(client.TestRunsAPI.ListTestRuns(ctx).Execute())
	came["health"] = must(client.OperationsAPI.GetHealth(ctx).Execute())
}
