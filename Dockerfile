# docker build --tag trajanon .
# docker run --rm trajanon                             the demo
# docker run --rm --volume "$PWD:/data" --volume trajanon-key:/key --user "$(id -u):$(id -g)" trajanon anonymize -k 4
# Your key stays in the volume trajanon-key: without it, each run would make another.
FROM python:3.13-slim AS build
WORKDIR /source
COPY . .
RUN python -m venv /opt/trajanon \
    && /opt/trajanon/bin/pip install --no-cache-dir --only-binary :all: .

FROM python:3.13-slim
COPY --from=build /opt/trajanon /opt/trajanon
# Compiled kernels are kept where any user can write, whoever --user names. They suit the processor
# that built the image: on one of another kind, each container compiles them first.
ENV PATH="/opt/trajanon/bin:$PATH" \
    XDG_DATA_HOME=/key \
    NUMBA_CACHE_DIR=/var/cache/trajanon/kernels \
    XDG_CACHE_HOME=/var/cache/trajanon \
    MPLCONFIGDIR=/var/cache/trajanon
RUN useradd --create-home --uid 1000 trajanon \
    && mkdir --mode=1777 /var/cache/trajanon /key \
    && install --directory --owner=trajanon /data
RUN folder="$(mktemp --directory)" && cd "$folder" \
    && trajanon demo \
    && sample="$(python -c 'from trajanon.data import sample; print(sample())')" \
    && trajanon extract "$sample" --bbox madrid --windows \
    && trajanon anonymize -k 4 --key windows.key \
    && rm --recursive "$folder" \
    && chmod --recursive a+rwX /var/cache/trajanon
USER 1000
WORKDIR /data
ENTRYPOINT ["trajanon"]
CMD ["demo"]
