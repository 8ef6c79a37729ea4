# syntax=docker/dockerfile:1
# One image for every process of Lote; the command says which: worker, receiver, console, sandbox.
# Nothing was pulled or built where this file was written: check the tags in your registry first.

FROM node:24-bookworm-slim AS build
WORKDIR /app
COPY package.json package-lock.json .npmrc ./
RUN npm ci --ignore-scripts
COPY bin bin
COPY src src
COPY workflows workflows
COPY activities activities
RUN npm run build

FROM node:24-bookworm-slim AS dependencies
WORKDIR /app
COPY package.json package-lock.json .npmrc ./
# `npm ci` asks bin/prepare.js for a build; without sources there is nothing to build.
COPY bin bin
RUN npm ci --omit=dev

FROM node:24-bookworm-slim
ENV NODE_ENV=production
WORKDIR /app
# Input, reports and data are volumes; a fresh one takes its owner from here.
RUN mkdir -p /data/input /data/reports /data/lote && chown -R node:node /data
COPY --from=dependencies /app/node_modules node_modules
COPY --from=build /app/dist dist
COPY package.json ./
COPY bin bin
ENV LOTE_INPUT_DIR=/data/input LOTE_REPORTS_DIR=/data/reports LOTE_DATA_DIR=/data/lote
USER node
# Slices in flight end first: docker sends this, and the worker has its grace time.
STOPSIGNAL SIGTERM
ENTRYPOINT ["node", "bin/lote.js"]
CMD ["worker"]
