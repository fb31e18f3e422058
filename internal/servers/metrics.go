package servers

import (
	"context"
	"fmt"
	"io"
	"net/http"

	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"
)

// Metrics returns the metrics on the server's admin port: counters and gauges summed over their labels, and the counts
// and sums of histograms.
func (s *Server) Metrics(ctx context.Context) (map[string]float64, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, s.adminURL()+"/metrics", nil)
	if err != nil {
		return nil, err
	}
	resp, err := s.adminClient().Do(request)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("%s responded with %s", request.URL, resp.Status)
	}
	parser := expfmt.NewTextParser(model.UTF8Validation)
	families, err := parser.TextToMetricFamilies(resp.Body)
	if err != nil {
		return nil, fmt.Errorf("metrics of %s: %w", s.ID, err)
	}
	sums := make(map[string]float64, len(families))
	for name, f := range families {
		for _, m := range f.GetMetric() {
			sums[name] += m.GetCounter().GetValue() + m.GetGauge().GetValue() + m.GetUntyped().GetValue()
			if h := m.GetHistogram(); h != nil {
				sums[name+"_sum"] += h.GetSampleSum()
				sums[name+"_count"] += float64(h.GetSampleCount())
			}
		}
	}
	return sums, nil
}

// CollectGarbage triggers a garbage collection in the server, so that later metrics show only retained memory.
func (s *Server) CollectGarbage(ctx context.Context) error {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, s.adminURL()+"/debug/pprof/heap?gc=1", nil)
	if err != nil {
		return err
	}
	resp, err := s.adminClient().Do(request)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return fmt.Errorf("%s responded with %s", request.URL, resp.Status)
	}
	_, err = io.Copy(io.Discard, resp.Body)
	return err
}

func (s *Server) adminURL() string {
	if s.secure != nil && s.AllAddresses { // the admin port is plaintext on loopback
		return "https://" + s.Admin
	}
	return "http://" + s.Admin
}

func (s *Server) adminClient() *http.Client {
	if s.secure == nil {
		return http.DefaultClient
	}
	return &http.Client{Transport: &http.Transport{TLSClientConfig: s.secure.config(), DisableKeepAlives: true}}
}
