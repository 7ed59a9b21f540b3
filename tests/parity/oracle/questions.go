package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"io"
	"os"
)

// question asks about one pending pod of a cluster.
type question struct {
	Pod     string          `json:"pod"`
	Cluster json.RawMessage `json:"cluster"`
}

// answerQuestions reads questions, each a JSON value, and prints a line with
// the decision about each. Many small clusters cost one start of the program.
func answerQuestions(in io.Reader, s settings) {
	decoder := json.NewDecoder(bufio.NewReader(in))
	encoder := json.NewEncoder(os.Stdout)
	for {
		var q question
		if err := decoder.Decode(&q); errors.Is(err, io.EOF) {
			return
		} else {
			must(0, err)
		}
		decisions := decideAll(loadObjects(q.Cluster), s, q.Pod)
		if len(decisions) == 0 {
			decisions = []decision{{Pod: q.Pod, Error: "the cluster has no such pending pod"}}
		}
		must(0, encoder.Encode(decisions[0]))
	}
}
