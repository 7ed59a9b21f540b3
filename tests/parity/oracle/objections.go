package main

import (
	"context"
	"fmt"
	"slices"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/sets"
	fwk "k8s.io/kube-scheduler/framework"
	schedulerapi "k8s.io/kubernetes/pkg/scheduler/apis/config"
	"k8s.io/kubernetes/pkg/scheduler/framework"
	frameworkruntime "k8s.io/kubernetes/pkg/scheduler/framework/runtime"
)

// loneFilter is a framework of which one plugin only may reject nodes.
type loneFilter struct {
	plugin string
	fw     framework.Framework
}

// makingOnce lets all frameworks of an oracle have the same plugins, so that
// what one of them reserved is known in the others.
func makingOnce(registry frameworkruntime.Registry) frameworkruntime.Registry {
	made := map[string]fwk.Plugin{}
	once := frameworkruntime.Registry{}
	for name, factory := range registry {
		once[name] = func(ctx context.Context, args runtime.Object, handle fwk.Handle) (fwk.Plugin, error) {
			if plugin, ok := made[name]; ok {
				return plugin, nil
			}
			plugin, err := factory(ctx, args, handle)
			if err == nil {
				made[name] = plugin
			}
			return plugin, err
		}
	}
	return once
}

// only is the set with nothing but the named plugin, or the empty set.
func only(name string, of schedulerapi.PluginSet) schedulerapi.PluginSet {
	if !slices.ContainsFunc(of.Enabled, func(p schedulerapi.Plugin) bool { return p.Name == name }) {
		return schedulerapi.PluginSet{}
	}
	return schedulerapi.PluginSet{Enabled: []schedulerapi.Plugin{{Name: name}}}
}

// loneFilters makes a framework for each plugin that has PreFilter or Filter in
// a profile. Beside that it has what every profile must have.
func loneFilters(ctx context.Context, profile *schedulerapi.KubeSchedulerProfile, plugins *schedulerapi.Plugins,
	newFramework func(context.Context, *schedulerapi.KubeSchedulerProfile) framework.Framework) []loneFilter {
	var all []loneFilter
	seen := sets.New[string]()
	for _, p := range slices.Concat(plugins.PreFilter.Enabled, plugins.Filter.Enabled) {
		if seen.Has(p.Name) {
			continue
		}
		seen.Insert(p.Name)
		alone := profile.DeepCopy()
		alone.Plugins = &schedulerapi.Plugins{
			QueueSort: plugins.QueueSort,
			Bind:      plugins.Bind,
			PreFilter: only(p.Name, plugins.PreFilter),
			Filter:    only(p.Name, plugins.Filter),
		}
		all = append(all, loneFilter{plugin: p.Name, fw: newFramework(ctx, alone)})
	}
	return all
}

// leftOut is the status of nodes that are not in the result of PreFilter.
func leftOut(by sets.Set[string]) *fwk.Status {
	return fwk.NewStatus(fwk.UnschedulableAndUnresolvable, fmt.Sprintf("node(s) didn't satisfy plugin(s) %v", sets.List(by)))
}

// objections returns node -> plugin -> what the plugin says when it is alone.
func (o *oracle) objections(pod *v1.Pod, nodes []fwk.NodeInfo) map[string]map[string]verdict {
	all := map[string]map[string]verdict{}
	for _, alone := range o.alone {
		state := framework.NewCycleState()
		pre, preStatus, by := alone.fw.RunPreFilterPlugins(o.ctx, state, pod)
		for _, n := range nodes {
			status, name := preStatus, n.Node().Name
			if status.IsSuccess() && !pre.AllNodes() && !pre.NodeNames.Has(name) {
				status = leftOut(by)
			}
			if status.IsSuccess() {
				status = alone.fw.RunFilterPluginsWithNominatedPods(o.ctx, state, pod, n)
			}
			if status.IsSuccess() {
				continue
			}
			if all[name] == nil {
				all[name] = map[string]verdict{}
			}
			v := verdictOf(status)
			v.Plugin = "" // it is the key
			all[name][alone.plugin] = v
		}
	}
	return all
}
