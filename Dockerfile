# Outcrop in a container: docker build -t outcrop . && docker run --rm -v "$PWD:/models" outcrop check ring.m
FROM python:3.12-slim AS build
WORKDIR /source
COPY . .
RUN pip install --no-cache-dir build && python -m build --wheel --outdir /wheels

FROM python:3.12-slim
# Models are compiled in the container, so that it needs a C compiler and its headers.
RUN apt-get update \
    && apt-get install --yes --no-install-recommends gcc libc6-dev openssh-client openssh-server \
    && rm -rf /var/lib/apt/lists/*
COPY --from=build /wheels /wheels
RUN pip install --no-cache-dir "$(ls /wheels/*.whl)[mpi,remote]" && rm -rf /wheels
RUN useradd --create-home --uid 1000 outcrop
# For the MPI operator (deploy/mpijob.yaml), which starts ranks over ssh, on a port that needs no privileges.
RUN printf '    Port 2222\n    StrictHostKeyChecking no\n    UserKnownHostsFile /dev/null\n' >> /etc/ssh/ssh_config \
    && printf 'Port 2222\nPidFile /home/outcrop/sshd.pid\nHostKey /home/outcrop/.ssh/id_rsa\nStrictModes no\n' \
       > /home/outcrop/.sshd_config
USER outcrop
WORKDIR /models
# SIGTERM, which docker stop sends, saves the checkpoint and ends with exit code 3.
STOPSIGNAL SIGTERM
ENTRYPOINT ["outcrop"]
CMD ["--help"]
