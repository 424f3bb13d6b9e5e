# syntax=docker/dockerfile:1
# Cloxy as a container: fed over HTTP, or from a folder mounted at /sessions. See
# docs/how-to/container.md.

FROM python:3.11-slim-bookworm AS build
WORKDIR /source
COPY pyproject.toml README.md LICENSE ./
COPY cloxy_core ./cloxy_core
COPY hookspecs ./hookspecs
COPY plugins ./plugins
COPY templates ./templates
RUN python -m venv /opt/cloxy \
    && /opt/cloxy/bin/pip install --no-cache-dir --no-compile . \
    && /opt/cloxy/bin/python -m compileall -q /opt/cloxy/lib

FROM python:3.11-slim-bookworm
# Whoever mounts a folder of session logs that only they may read builds with their own numbers:
# docker compose build --build-arg CLOXY_UID=$(id -u) --build-arg CLOXY_GID=$(id -g)
ARG CLOXY_UID=10001
ARG CLOXY_GID=10001
RUN groupadd --non-unique --gid "${CLOXY_GID}" cloxy \
    && useradd --non-unique --uid "${CLOXY_UID}" --gid "${CLOXY_GID}" \
        --home-dir /data --no-create-home --shell /usr/sbin/nologin cloxy \
    && install --directory --owner=cloxy --group=cloxy --mode=0700 /data \
    && install --directory --mode=0755 /sessions
COPY --from=build /opt/cloxy /opt/cloxy
ENV PATH=/opt/cloxy/bin:/usr/local/bin:/usr/bin:/bin \
    PYTHONDONTWRITEBYTECODE=1 \
    PYTHONUNBUFFERED=1 \
    CLOXY_HOST=0.0.0.0 \
    CLOXY_DATA_DIR=/data \
    CLOXY_WATCH=0 \
    CLOXY_WATCH_DIRS=/sessions
# Numbers, so that a platform can see without looking into the image that this is not root.
USER ${CLOXY_UID}:${CLOXY_GID}
WORKDIR /data
VOLUME ["/data"]
EXPOSE 9055
STOPSIGNAL SIGTERM
HEALTHCHECK --interval=30s --timeout=20s --start-period=60s --retries=3 \
    CMD cloxy status --quiet || exit 1
ENTRYPOINT ["cloxy"]
CMD ["start"]
