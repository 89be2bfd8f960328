// Says how GitOps controllers see objects: each line of standard input is one object as JSON, each line of the output its status
// by kstatus, by Flux's own version of kstatus, and by Argo CD's interpreter of Lua with the script that is the argument.
package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"os"

	flux "github.com/fluxcd/cli-utils/pkg/kstatus/status"
	lua "github.com/yuin/gopher-lua"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	kstatus "sigs.k8s.io/cli-utils/pkg/kstatus/status"
)

type answer struct {
	Kstatus string `json:"kstatus"`
	Flux    string `json:"flux"`
	Argo    string `json:"argo"`
	Message string `json:"message"`
}

func check(object *unstructured.Unstructured, script string) (answer, error) {
	plain, err := kstatus.Compute(object)
	if err != nil {
		return answer{}, fmt.Errorf("kstatus: %w", err)
	}
	ofFlux, err := flux.Compute(object)
	if err != nil {
		return answer{}, fmt.Errorf("kstatus of Flux: %w", err)
	}
	ofArgo, err := health(object.Object, script)
	if err != nil {
		return answer{}, fmt.Errorf("health of Argo CD: %w", err)
	}
	return answer{Kstatus: string(plain.Status), Flux: string(ofFlux.Status), Argo: ofArgo, Message: plain.Message}, nil
}

// As Argo CD runs a health check: without the libraries that reach the outside, the object as the global obj.
func health(object map[string]any, script string) (string, error) {
	state := lua.NewState(lua.Options{SkipOpenLibs: true})
	defer state.Close()
	for name, open := range map[string]lua.LGFunction{lua.LoadLibName: lua.OpenPackage, lua.BaseLibName: lua.OpenBase, lua.TabLibName: lua.OpenTable} {
		if err := state.CallByParam(lua.P{Fn: state.NewFunction(open), NRet: 0, Protect: true}, lua.LString(name)); err != nil {
			return "", err
		}
	}
	state.SetGlobal("obj", toLua(state, object))
	if err := state.DoString(script); err != nil {
		return "", err
	}
	table, ok := state.Get(-1).(*lua.LTable)
	if !ok {
		return "", errors.New("the script returns no table")
	}
	return table.RawGetString("status").String(), nil
}

func toLua(state *lua.LState, value any) lua.LValue {
	switch value := value.(type) {
	case string:
		return lua.LString(value)
	case bool:
		return lua.LBool(value)
	case int64:
		return lua.LNumber(value)
	case float64:
		return lua.LNumber(value)
	case []any:
		table := state.NewTable()
		for _, item := range value {
			table.Append(toLua(state, item))
		}
		return table
	case map[string]any:
		table := state.NewTable()
		for key, item := range value {
			table.RawSetString(key, toLua(state, item))
		}
		return table
	default:
		return lua.LNil
	}
}

func run() error {
	script, err := os.ReadFile(os.Args[1])
	if err != nil {
		return err
	}
	lines := bufio.NewScanner(os.Stdin)
	lines.Buffer(nil, 1<<22)
	for lines.Scan() {
		object := &unstructured.Unstructured{}
		if err := object.UnmarshalJSON(lines.Bytes()); err != nil {
			return err
		}
		found, err := check(object, string(script))
		if err != nil {
			return err
		}
		text, err := json.Marshal(found)
		if err != nil {
			return err
		}
		fmt.Println(string(text))
	}
	return lines.Err()
}

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: gitops-status <health.lua>  (objects as JSON on standard input, one a line)")
		os.Exit(2)
	}
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
