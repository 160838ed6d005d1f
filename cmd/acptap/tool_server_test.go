package main

import (
	"context"
	"errors"
	"fmt"
	"os"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// toolServer is an MCP server on stdio, made with the official SDK for Go. Its first argument
// is its name. Unless that is bare, it has these tools:
//
//	echo {"message":TEXT}        answers "Echo: TEXT"
//	add {"a":NUMBER,"b":NUMBER}  answers "The sum of a and b is SUM."
//	fail {"message":TEXT}        answers TEXT with isError
//	work {"message":TEXT}        says on the way that it is at 1 and at 2 of 2, then answers TEXT
//	die {}                       ends the process with status 3, without an answer
//
// It says "NAME: ready" on stderr when it begins to listen.
func toolServer() {
	name := "tools"
	if len(os.Args) > 1 {
		name = os.Args[1]
	}
	server := mcp.NewServer(&mcp.Implementation{Name: name, Version: "1"}, nil)
	if name != "bare" {
		addTools(server)
	}
	fmt.Fprintf(os.Stderr, "%s: ready\n", name)
	if err := server.Run(context.Background(), &mcp.StdioTransport{}); err != nil {
		fmt.Fprintf(os.Stderr, "%s: %v\n", name, err)
	}
}

// addTools gives a server the tools of toolServer.
func addTools(server *mcp.Server) {
	type message struct {
		Message string `json:"message"`
	}
	type numbers struct {
		A float64 `json:"a"`
		B float64 `json:"b"`
	}
	says := func(text string) *mcp.CallToolResult {
		return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: text}}}
	}
	mcp.AddTool(server, &mcp.Tool{Name: "echo", Description: "Says it again."},
		func(_ context.Context, _ *mcp.CallToolRequest, in message) (*mcp.CallToolResult, any, error) {
			return says("Echo: " + in.Message), nil, nil
		})
	mcp.AddTool(server, &mcp.Tool{Name: "add", Description: "Adds two numbers."},
		func(_ context.Context, _ *mcp.CallToolRequest, in numbers) (*mcp.CallToolResult, any, error) {
			return says(fmt.Sprintf("The sum of a and b is %v.", in.A+in.B)), nil, nil
		})
	mcp.AddTool(server, &mcp.Tool{Name: "fail", Description: "Fails."},
		func(_ context.Context, _ *mcp.CallToolRequest, in message) (*mcp.CallToolResult, any, error) {
			return nil, nil, errors.New(in.Message)
		})
	mcp.AddTool(server, &mcp.Tool{Name: "work", Description: "Takes its time."},
		func(ctx context.Context, req *mcp.CallToolRequest, in message) (*mcp.CallToolResult, any, error) {
			for n := 1; n <= 2; n++ {
				p := &mcp.ProgressNotificationParams{ProgressToken: req.Params.GetProgressToken(), Progress: float64(n), Total: 2}
				if p.ProgressToken == nil {
					break
				}
				if err := req.Session.NotifyProgress(ctx, p); err != nil {
					return nil, nil, err
				}
			}
			return says(in.Message), nil, nil
		})
	mcp.AddTool(server, &mcp.Tool{Name: "die", Description: "Ends the server."},
		func(context.Context, *mcp.CallToolRequest, struct{}) (*mcp.CallToolResult, any, error) {
			os.Exit(3)
			return nil, nil, nil
		})
}
