# The workbench in a container:  docker build -t lapsus . && docker run -p 127.0.0.1:8642:8642 -v lapsus:/data lapsus
FROM python:3.12-slim AS build
WORKDIR /src
COPY pyproject.toml README.md LICENSE ./
COPY src src
# What is here is installed, no package by its name.
# hadolint ignore=DL3013
RUN pip install --no-cache-dir --prefix=/installed '.[postgres,oidc,s3]'

FROM python:3.12-slim
COPY --from=build /installed /usr/local
RUN useradd --create-home --uid 10001 lapsus && install -d -o lapsus /data
USER 10001
VOLUME /data
ENV LAPSUS_DB=/data/lapsus.sqlite PYTHONUNBUFFERED=1
EXPOSE 8642
HEALTHCHECK --interval=30s --timeout=5s --start-period=30s \
  CMD ["python", "-c", "import urllib.request; urllib.request.urlopen('http://127.0.0.1:8642/healthy.json', timeout=4)"]
ENTRYPOINT ["lapsus"]
CMD ["serve", "--host", "0.0.0.0"]
