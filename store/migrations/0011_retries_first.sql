-- Retries that wait for a dispatcher: few, unless an endpoint is left alone. They go before what hasn't been tried yet.
CREATE INDEX deliveries_retried ON parley.deliveries (subscription_uid, due_at) WHERE state = 'pending' AND attempts > series_start;
