package main

import (
	"context"
	"encoding/json"
	"math"
	"os"
	"sort"
	"sync"
	"time"

	v1 "k8s.io/api/core/v1"
	schedulingv1beta1 "k8s.io/api/scheduling/v1beta1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes/fake"
	clienttesting "k8s.io/client-go/testing"
	"k8s.io/client-go/tools/events"
	"k8s.io/klog/v2"
	configv1 "k8s.io/kube-scheduler/config/v1"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler"
	schedulerapi "k8s.io/kubernetes/pkg/scheduler/apis/config"
	"k8s.io/kubernetes/pkg/scheduler/framework"
	frameworkplugins "k8s.io/kubernetes/pkg/scheduler/framework/plugins"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/names"
	frameworkruntime "k8s.io/kubernetes/pkg/scheduler/framework/runtime"
	clocktesting "k8s.io/utils/clock/testing"
)

// entityResult is what one scheduling cycle did with one entity of the queue,
// a pod or a pod group.
type entityResult struct {
	Group     string         `json:"group,omitempty"`
	Pod       string         `json:"pod,omitempty"`
	Condition *condition     `json:"condition,omitempty"`
	Members   []memberResult `json:"members"`
	Victims   []string       `json:"victims,omitempty"`
}

type condition struct {
	Status  string `json:"status"`
	Reason  string `json:"reason"`
	Message string `json:"message,omitempty"`
}

// memberResult: a node when the pod was bound, otherwise the text it got, and
// the node it was nominated to.
type memberResult struct {
	Pod       string `json:"pod"`
	Node      string `json:"node,omitempty"`
	Code      string `json:"code,omitempty"`
	Message   string `json:"message,omitempty"`
	Nominated string `json:"nominated,omitempty"`
}

// left lists the pods that no cycle has touched, by the queue they are in.
type left struct {
	Incomplete []string `json:"incomplete,omitempty"`
	Gated      []string `json:"gated,omitempty"`
}

// --- ties ---------------------------------------------------------------------

// tieBreak orders nodes and placements of equal score by name, where upstream
// draws. Two instances are two digits; the weights of all other plugins are
// scaled so that digits never outweigh a real difference.
type tieBreak struct {
	name string
	rank func(node string) int64
}

const (
	digit            = fwk.MaxNodeScore + 1
	tieHigh          = "OracleTieHigh"
	tieLow           = "OracleTieLow"
	sortedGeneration = "OracleSortedPlacements"
)

func (t *tieBreak) Name() string { return t.name }

func (t *tieBreak) Score(_ context.Context, _ fwk.CycleState, _ *v1.Pod, n fwk.NodeInfo) (int64, *fwk.Status) {
	return t.rank(n.Node().Name), nil
}

func (t *tieBreak) ScoreExtensions() fwk.ScoreExtensions { return nil }

func (t *tieBreak) ScorePlacement(_ context.Context, _ fwk.PlacementCycleState, _ fwk.PodGroupInfo, p *fwk.PodGroupAssignments) (int64, *fwk.Status) {
	best := int64(0) // a placement is as good as the first of its nodes
	for _, n := range p.Nodes {
		best = max(best, t.rank(n.Node().Name))
	}
	return best, nil
}

func (t *tieBreak) PlacementScoreExtensions() fwk.PlacementScoreExtensions { return nil }

// sortedPlacements is upstream's generator, whose order is that of a map, with
// the placements sorted by name.
type sortedPlacements struct {
	fwk.PlacementGeneratePlugin
}

func (s sortedPlacements) Name() string { return sortedGeneration }

func (s sortedPlacements) GeneratePlacements(ctx context.Context, state fwk.PodGroupCycleState, g fwk.PodGroupInfo, parent *fwk.Placement) (*fwk.GeneratePlacementsResult, *fwk.Status) {
	r, st := s.PlacementGeneratePlugin.GeneratePlacements(ctx, state, g, parent)
	if r != nil {
		sort.Slice(r.Placements, func(i, j int) bool { return r.Placements[i].Name < r.Placements[j].Name })
	}
	return r, st
}

func tieRegistry(objects []runtime.Object) frameworkruntime.Registry {
	var nodes []string
	for _, obj := range objects {
		if n, ok := obj.(*v1.Node); ok {
			nodes = append(nodes, n.Name)
		}
	}
	sort.Strings(nodes)
	index := map[string]int64{}
	for i, n := range nodes {
		index[n] = int64(i)
	}
	make := func(name string, f func(i int64) int64) frameworkruntime.PluginFactory {
		return func(context.Context, runtime.Object, fwk.Handle) (fwk.Plugin, error) {
			return &tieBreak{name: name, rank: func(n string) int64 { return fwk.MaxNodeScore - f(index[n]) }}, nil
		}
	}
	return frameworkruntime.Registry{
		tieHigh: make(tieHigh, func(i int64) int64 { return i / digit % digit }),
		tieLow:  make(tieLow, func(i int64) int64 { return i % digit }),
		sortedGeneration: func(ctx context.Context, args runtime.Object, h fwk.Handle) (fwk.Plugin, error) {
			p, err := frameworkplugins.NewInTreeRegistry()[names.TopologyPlacementGenerator](ctx, args, h)
			if err != nil {
				return nil, err
			}
			return sortedPlacements{p.(fwk.PlacementGeneratePlugin)}, nil
		},
	}
}

func addTieBreak(p *schedulerapi.KubeSchedulerProfile) {
	scale := func(set *schedulerapi.PluginSet) {
		for i := range set.Enabled {
			if set.Enabled[i].Name == names.TopologyPlacementGenerator {
				set.Enabled[i].Name = sortedGeneration
			}
			set.Enabled[i].Weight = max(set.Enabled[i].Weight, 1) * int32(digit*digit)
		}
	}
	scale(&p.Plugins.MultiPoint)
	scale(&p.Plugins.Score)
	scale(&p.Plugins.PlacementScore)
	scale(&p.Plugins.PlacementGenerate)
	ties := []schedulerapi.Plugin{{Name: tieHigh, Weight: int32(digit)}, {Name: tieLow, Weight: 1}}
	p.Plugins.MultiPoint.Enabled = append(p.Plugins.MultiPoint.Enabled, ties...)
	p.Plugins.Score.Enabled = append(p.Plugins.Score.Enabled, ties...) // even where multiPoint is not expanded
	all := int32(100)
	p.PercentageOfNodesToScore = &all
}

// --- the run --------------------------------------------------------------------

type groupRun struct {
	mu         sync.Mutex
	bound      map[string]string
	failed     map[string]memberResult
	conditions map[string]condition
	victims    []string
}

// answer records every write and swallows it: evicted pods stay, bound pods
// stay assumed.
func (g *groupRun) answer(client *fake.Clientset) {
	lock := func(f func()) { g.mu.Lock(); defer g.mu.Unlock(); f() }
	client.PrependReactor("create", "pods", func(a clienttesting.Action) (bool, runtime.Object, error) {
		if a.GetSubresource() != "binding" {
			return false, nil, nil
		}
		b := a.(clienttesting.CreateAction).GetObject().(*v1.Binding)
		lock(func() { g.bound[b.Namespace+"/"+b.Name] = b.Target.Name })
		return true, b, nil
	})
	client.PrependReactor("delete", "pods", func(a clienttesting.Action) (bool, runtime.Object, error) {
		d := a.(clienttesting.DeleteAction)
		lock(func() { g.victims = append(g.victims, d.GetNamespace()+"/"+d.GetName()) })
		return true, nil, nil
	})
	client.PrependReactor("patch", "pods", func(clienttesting.Action) (bool, runtime.Object, error) { return true, &v1.Pod{}, nil })
	client.PrependReactor("patch", "podgroups", func(a clienttesting.Action) (bool, runtime.Object, error) {
		p := a.(clienttesting.PatchAction)
		var body struct {
			Status struct{ Conditions []metav1.Condition }
		}
		must(0, json.Unmarshal(p.GetPatch(), &body))
		for _, c := range body.Status.Conditions {
			lock(func() {
				g.conditions[p.GetNamespace()+"/"+p.GetName()] = condition{Status: string(c.Status), Reason: c.Reason, Message: c.Message}
			})
		}
		return true, &schedulingv1beta1.PodGroup{}, nil
	})
}

// settle waits until every member is either bound or failed, and evictions
// have stopped coming. Members that wait in Permit are given up on.
func (g *groupRun) settle(members []string) {
	last, quiet, nominated := -1, 0, false
	for range 250 {
		g.mu.Lock()
		done := 0
		for _, m := range members {
			_, b := g.bound[m]
			f, failed := g.failed[m]
			if b || failed {
				done++
			}
			nominated = nominated || f.Nominated != ""
		}
		n := len(g.victims)
		g.mu.Unlock()
		if n == last {
			quiet++
		} else {
			last, quiet = n, 0
		}
		if done == len(members) && (!nominated || quiet >= 5 && n > 0 || quiet >= 50) {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
}

// scheduleGroups builds a whole upstream scheduler on the objects, lets the
// pending pods arrive in list order, and runs one cycle per entity of the
// queue, best first, until nothing is active. An entity that failed is not
// tried again; what a successful group left over is, as upstream does.
func scheduleGroups(objects []runtime.Object, cfg *schedulerapi.KubeSchedulerConfiguration) {
	ctx, cancel := context.WithCancel(klog.NewContext(context.Background(), klog.TODO().V(0)))
	defer cancel()
	klog.SetLogger(klog.Logger{}) // upstream logs every failed pod as an error
	var known []runtime.Object
	var pending []*v1.Pod
	for _, obj := range objects {
		if p, ok := obj.(*v1.Pod); ok && p.Spec.NodeName == "" {
			if p.Spec.SchedulerName == "" {
				p.Spec.SchedulerName = v1.DefaultSchedulerName
			}
			pending = append(pending, p)
			continue
		}
		known = append(known, obj)
	}
	client := fake.NewClientset(known...)
	run := &groupRun{bound: map[string]string{}, failed: map[string]memberResult{}, conditions: map[string]condition{}}
	run.answer(client)
	for i := range cfg.Profiles {
		addTieBreak(&cfg.Profiles[i])
	}
	clock := clocktesting.NewFakeClock(time.Now())
	factory := informers.NewSharedInformerFactory(client, 0)
	sched := must(scheduler.New(ctx, client, factory, nil,
		func(string) events.EventRecorderLogger { return &events.FakeRecorder{} },
		scheduler.WithComponentConfigVersion(configv1.SchemeGroupVersion.String()),
		scheduler.WithProfiles(cfg.Profiles...),
		scheduler.WithFrameworkOutOfTreeRegistry(tieRegistry(objects)),
		scheduler.WithParallelism(1),
		scheduler.WithPodMaxInUnschedulablePodsDuration(math.MaxInt64),
		scheduler.WithClock(clock)))

	handle := sched.FailureHandler
	sched.FailureHandler = func(ctx context.Context, f framework.Framework, p *framework.QueuedPodInfo, s *fwk.Status, n *fwk.NominatingInfo, start time.Time) {
		handle(ctx, f, p, s, n, start)
		m := memberResult{Pod: key(p.Pod), Code: s.Code().String(), Message: s.Message()}
		if n != nil {
			m.Nominated = n.NominatedNodeName
		}
		run.mu.Lock()
		defer run.mu.Unlock()
		run.failed[m.Pod] = m
	}

	factory.Start(ctx.Done())
	factory.WaitForCacheSync(ctx.Done())
	must(0, sched.WaitForHandlersSync(ctx))
	time.Sleep(100 * time.Millisecond) // handlers that run after the caches have changed
	for _, p := range pending {
		clock.Step(time.Millisecond)
		must(client.CoreV1().Pods(p.Namespace).Create(ctx, p, metav1.CreateOptions{}))
		if sched.Profiles[p.Spec.SchedulerName] == nil {
			continue // another scheduler's
		}
		for i := 0; i < 5000; i++ {
			if _, ok := sched.SchedulingQueue.GetPod(p.Name, p.Namespace, p.Spec.SchedulingGroup); ok || waitsForGroup(sched, p) {
				break
			}
			time.Sleep(200 * time.Microsecond)
		}
	}
	time.Sleep(100 * time.Millisecond) // until gated pods have moved

	out := struct {
		Entities []entityResult `json:"entities"`
		Left     left           `json:"left"`
	}{Entities: []entityResult{}}
	tried := map[string]bool{} // entities that have failed
	next := sched.NextEntity
	for len(sched.SchedulingQueue.PodsInActiveQ()) > 0 {
		var result entityResult
		var members []string
		var name string
		sched.NextEntity = func(l klog.Logger) (framework.QueuedEntityInfo, error) {
			e, err := next(l)
			if err != nil || e == nil {
				return nil, err
			}
			switch t := e.(type) {
			case *framework.QueuedPodGroupInfo:
				result.Group = t.Namespace + "/" + t.Name
				name = "group " + result.Group
				t.ForEachPodInfo(func(p *framework.QueuedPodInfo) bool { members = append(members, key(p.Pod)); return true })
			case *framework.QueuedPodInfo:
				result.Pod = key(t.Pod)
				name = "pod " + result.Pod
				members = []string{result.Pod}
			}
			if tried[name] {
				members = nil
				return nil, nil
			}
			return e, nil
		}
		run.mu.Lock()
		run.failed, run.victims, run.conditions = map[string]memberResult{}, nil, map[string]condition{}
		run.mu.Unlock()
		clock.Step(time.Millisecond)
		sched.ScheduleOne(ctx)
		if members == nil {
			continue
		}
		run.settle(members)
		run.mu.Lock()
		failed := 0
		for _, m := range members {
			switch f, bad := run.failed[m]; {
			case bad:
				failed++
				result.Members = append(result.Members, f)
			default:
				result.Members = append(result.Members, memberResult{Pod: m, Node: run.bound[m]})
			}
		}
		if c, ok := run.conditions[result.Group]; ok {
			result.Condition = &c
		}
		result.Victims = append(result.Victims, run.victims...)
		sort.Strings(result.Victims)
		run.mu.Unlock()
		if failed == len(members) {
			tried[name] = true
		}
		out.Entities = append(out.Entities, result)
	}
	for _, p := range sched.SchedulingQueue.IncompletePodGroupPodsPods() {
		out.Left.Incomplete = append(out.Left.Incomplete, key(p))
	}
	for _, p := range sched.SchedulingQueue.UnschedulablePods() {
		if i, ok := sched.SchedulingQueue.GetPod(p.Name, p.Namespace, p.Spec.SchedulingGroup); ok && i.Attempts == 0 {
			out.Left.Gated = append(out.Left.Gated, key(p))
		}
	}
	sort.Strings(out.Left.Incomplete)
	sort.Strings(out.Left.Gated)
	enc := json.NewEncoder(os.Stdout)
	enc.SetIndent("", " ")
	must(0, enc.Encode(out))
}

// waitsForGroup says whether the pod is in the queue of those whose group is not known.
func waitsForGroup(sched *scheduler.Scheduler, p *v1.Pod) bool {
	for _, q := range sched.SchedulingQueue.IncompletePodGroupPodsPods() {
		if q.UID == p.UID {
			return true
		}
	}
	return false
}
