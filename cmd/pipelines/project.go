package main

import (
	"context"
	"os"

	"pipelines/pipelines"
	"pipelines/spec/diag"
)

// load loads the project for a command that needs it; nil when findings or an
// error were reported.
func (a *app) load(ctx context.Context, params []string, offline bool) (*pipelines.Project, diag.List, error) {
	values, err := parseParams(params)
	if err != nil {
		return nil, nil, err
	}
	path, list := pipelines.FindDocument(a.spec)
	if path == "" {
		return nil, list, nil
	}
	p, list, err := pipelines.Load(ctx, pipelines.LoadOptions{Path: path, Parameters: values, Offline: offline, Env: os.LookupEnv})
	if err != nil {
		return nil, list, &pipelines.EnvironmentError{Err: err}
	}
	return p, list, nil
}

// open opens the project for looking at what it has stored; nil when findings
// were reported.
func (a *app) open(ctx context.Context) (*pipelines.Reader, error) {
	path, list := pipelines.FindDocument(a.spec)
	if path == "" {
		a.findings(list)
		return nil, nil //nolint:nilnil // the findings were printed
	}
	r, list, err := pipelines.OpenReader(ctx, pipelines.LoadOptions{Path: path, Env: os.LookupEnv})
	if err != nil {
		return nil, &pipelines.EnvironmentError{Err: err}
	}
	if r == nil {
		a.findings(list)
	}
	return r, nil
}
