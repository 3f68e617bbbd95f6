# Two stages: the compiler's, and one that holds the program alone: no shell, no package manager, nothing to patch.
FROM --platform=$BUILDPLATFORM golang:1.26 AS build
WORKDIR /src

# The modules change more seldom than the code, so they are a layer of their own.
COPY go.mod go.sum ./
RUN go mod download

COPY . .
ARG TARGETOS
ARG TARGETARCH
ARG VERSION=dev
ARG COMMIT=unknown
ARG BUILT_AT=unknown
RUN --mount=type=cache,target=/gocache \
    GOCACHE=/gocache CGO_ENABLED=0 GOOS=$TARGETOS GOARCH=$TARGETARCH go build -trimpath \
      -ldflags "-s -w -X main.version=$VERSION -X main.commit=$COMMIT -X main.builtAt=$BUILT_AT" \
      -o /out/usr/local/bin/mockbase ./cmd/mockbase
# An empty volume takes over owner and mode of the folder it covers. Group 0 may write as well: platforms that choose the
# user id themselves put it into that group.
RUN mkdir -p -m 0770 /out/data && mkdir -p /out/etc/ssl/certs && \
    cp /etc/ssl/certs/ca-certificates.crt /out/etc/ssl/certs/

FROM scratch
COPY --from=build /out/etc /etc
COPY --from=build /out/usr /usr
COPY --from=build --chown=65532:0 /out/data /data

# The image differs from the bare program in these two defaults only. They are variables and not flags, so that your own
# variables always win.
ENV PATH=/usr/local/bin \
    MOCKBASE_ADDR=0.0.0.0:8080 \
    MOCKBASE_DATA_DIR=/data
USER 65532:65532
EXPOSE 8080
VOLUME ["/data"]
HEALTHCHECK --interval=5s --timeout=4s --start-period=5s --retries=3 CMD ["mockbase", "healthcheck", "--ready"]
ENTRYPOINT ["mockbase"]
CMD ["serve"]
