#!/bin/sh
# PostgreSQL's image runs this once, in an empty volume. The policies that keep tenants apart do not bind a superuser.
psql --username=postgres --set=ON_ERROR_STOP=1 --set=password="$(cat /run/secrets/database_password)" <<'SQL'
CREATE ROLE vis LOGIN PASSWORD :'password';
CREATE DATABASE vis OWNER vis;
SQL
