package observe

import (
	"context"
	"net/http"
	"os"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace"
	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/sdk/resource"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace"
	"go.opentelemetry.io/otel/trace/noop"

	"github.com/nodbridge/nod/bridge"
)

// tracer creates spans. All spans of a request are children of the span of the
// API call that opened the request. The record stores that span, because the
// click may come days later and on another daemon.
type tracer struct {
	tracer trace.Tracer
	close  func(context.Context) error
	on     bool
}

var traceContext = propagation.TraceContext{}

const traceparent = "traceparent"

func newTracer(ctx context.Context, endpoint string) (*tracer, error) {
	if endpoint == "" {
		return &tracer{tracer: noop.NewTracerProvider().Tracer("nod"), close: func(context.Context) error { return nil }}, nil
	}
	client, err := newOTLP(endpoint, os.Getenv)
	if err != nil {
		return nil, bridge.Wrap(bridge.CodeInvalid, err, "traces.endpoint").WithHint("use a URL such as http://127.0.0.1:4318/v1/traces")
	}
	exporter, err := otlptrace.New(ctx, client)
	if err != nil {
		return nil, bridge.Wrap(bridge.CodeInternal, err, "traces")
	}
	p := sdktrace.NewTracerProvider(
		sdktrace.WithBatcher(exporter),
		sdktrace.WithResource(resource.NewSchemaless(attribute.String("service.name", "nod"))),
	)
	return &tracer{tracer: p.Tracer("nod"), close: p.Shutdown, on: true}, nil
}

// request starts the span of an API call, and returns the context for the
// requests that it opens. Reads and waits have no span.
func (t *tracer) request(r *http.Request) (context.Context, func(route string, code int)) {
	none := func(string, int) {}
	if r.Method != http.MethodPost || !t.on && r.Header.Get(traceparent) == "" {
		return r.Context(), none
	}
	ctx := traceContext.Extract(r.Context(), propagation.HeaderCarrier(r.Header))
	end := none
	if t.on {
		var span trace.Span
		ctx, span = t.tracer.Start(ctx, "POST", trace.WithSpanKind(trace.SpanKindServer))
		end = func(route string, code int) {
			span.SetName(route)
			span.SetAttributes(attribute.Int("http.response.status_code", code))
			if code >= http.StatusInternalServerError {
				span.SetStatus(codes.Error, http.StatusText(code))
			}
			span.End()
		}
	}
	carrier := propagation.MapCarrier{}
	traceContext.Inject(ctx, carrier)
	if carrier[traceparent] == "" {
		return ctx, end
	}
	return bridge.WithTrace(ctx, carrier[traceparent]), end
}

// span creates a span from began until now in the trace of a request.
func (t *tracer) span(name, parent string, id bridge.ID, began time.Time, err error, attributes ...attribute.KeyValue) {
	if !t.on || parent == "" {
		return
	}
	ctx := traceContext.Extract(context.Background(), propagation.MapCarrier{traceparent: parent})
	_, span := t.tracer.Start(ctx, name, trace.WithTimestamp(began), trace.WithAttributes(append(attributes, attribute.String("nod.id", string(id)))...))
	if err != nil {
		span.SetStatus(codes.Error, string(bridge.ErrorCode(err)))
	}
	span.End()
}
